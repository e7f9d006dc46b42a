//! Makes a model of coefficients that come from elsewhere, writes it in both formats, reads it back
//! and applies it. No solver is among the dependencies of this crate.
//!
//!     cargo run -p margins-model --example hand_made

use margins_model::{Design, Format, Member, Model, Predictor, Registry, Scheme, TrainingSummary};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let member = Member {
        lambda: Some(0.01),
        intercept: -0.5,
        coef: vec![2.0, -1.0],
        training: TrainingSummary::uncertified(150),
        platt: None,
    };
    let classes = ["ham", "spam"].map(String::from).into();
    let names = Some(["offers", "greetings"].map(String::from).into());
    let registry = Registry::standard();
    let loss = registry.losses.parse("logistic")?;
    let model = Model::from_members(&loss, classes, Scheme::Binary, names, None, vec![member])?;

    let mails = Design::from_rows(&[[3.0, 0.0], [0.0, 2.0]])?;
    for format in [Format::Json, Format::Binary] {
        let bytes = model.to_bytes(format)?;
        let again = Model::from_bytes(&bytes, &registry)?;
        assert_eq!(again, model);
        println!("{format:?}: {} bytes", bytes.len());
        print!("{}", Predictor::new(again, &registry)?.probabilities(&mails)?);
    }
    Ok(())
}
