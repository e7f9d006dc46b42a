//! Raw tables: their encoding is learned inside the folds, and goes into the model.

use margins_data::encode::{EncodeOptions, Encoding, RawColumn, RawTable, Unknown};
use margins_data::{ClassLabels, Classes, Dataset};
use margins_estimators::regularised::{
    ClassifierSettings, CrossValidation, KernelChoice, Regularisation,
};
use margins_model::{Registry, Scheme};
use margins_optim::{Lambda, lambda_grid};

const ROWS: usize = 60;

/// Rows whose numbers have gaps and grow from fold to fold, with a level that one fold alone has.
fn table() -> RawTable {
    let number = |row: usize| match row % 4 {
        3 => f64::NAN,
        _ => (row % 5) as f64 + (row / 20) as f64 * 4.0,
    };
    let word = |row: usize| match (row % 3, row / 20) {
        (0, 2) => Some("rare"),
        (1, _) => None,
        (k, _) => Some(["p", "q", "r"][k]),
    };
    let numbers: Vec<f64> = (0..ROWS).map(number).collect();
    let numbers = RawColumn::numbers("x", &numbers).unwrap();
    RawTable::from_columns(vec![numbers, RawColumn::words("w", (0..ROWS).map(word))]).unwrap()
}

fn data(classes: usize) -> Dataset<Classes> {
    let label = |row: usize| ((row * row / 3 + row) % 7 % classes).to_string();
    let labels: Vec<String> = (0..ROWS).map(label).collect();
    let labels = Classes::new(&labels).unwrap();
    let folds = (0..ROWS).map(|row| row / 20).collect();
    Dataset::encoded(table(), labels, EncodeOptions::default())
        .and_then(|data| data.with_folds(folds))
        .unwrap()
}

fn settings(regularisation: Regularisation, kernel: Option<&str>) -> ClassifierSettings {
    let specifications = kernel.iter().map(|&kernel| kernel.to_owned()).collect();
    let kernels = KernelChoice { specifications, ..KernelChoice::default() };
    ClassifierSettings { regularisation, kernels, ..ClassifierSettings::default() }
}

/// Returns the errors in every fold by hand: learn, encode, fit, predict.
fn errors_by_hand(data: &Dataset<Classes>, kernel: Option<&str>, lambdas: &[Lambda]) -> Vec<f64> {
    let registry = Registry::standard();
    let wrong = |&lambda: &Lambda| {
        let of_fold = |fold: usize| {
            let (train, test): (Vec<usize>, Vec<usize>) =
                (0..ROWS).partition(|row| row / 20 != fold);
            let raw = table();
            let options = EncodeOptions { unknown: Unknown::None, ..EncodeOptions::default() };
            let encoding = Encoding::learn(&raw, Some(&train), options).unwrap();
            let part = Dataset::new(
                encoding.encode(&raw.select(&train)).unwrap(),
                data.select(&train).labels().clone(),
            );
            let settings = settings(Regularisation::Single(lambda), kernel);
            let fitted = settings.fit(&part.unwrap()).unwrap();
            let design = encoding.encode(&raw.select(&test)).unwrap();
            let predicted = fitted.model.predict(&design, &registry).unwrap();
            test.iter().zip(predicted).filter(|&(&row, k)| data.labels().index(row) != k).count()
        };
        (0..3).map(of_fold).sum::<usize>() as f64 / ROWS as f64
    };
    lambdas.iter().map(wrong).collect()
}

#[test]
fn cross_validation_learns_the_encoding_inside_the_folds() {
    let lambdas = lambda_grid(0.3, 3e-4, 4).unwrap();
    let gaussian = Some("gaussian:sigma=0.3");
    for (classes, kernel) in [(2, None), (3, None), (2, gaussian), (3, gaussian)] {
        let data = data(classes);
        let how = CrossValidation { lambdas: lambdas.clone(), ..CrossValidation::default() };
        let settings = settings(Regularisation::CrossValidated(how), kernel);
        let fitted = settings.fit(&data).unwrap();
        let curve = fitted.report.curve.as_ref().unwrap();
        let by_hand = errors_by_hand(&data, kernel, &lambdas);
        for (found, expected) in curve.mean_error.iter().zip(&by_hand) {
            assert!((found - expected).abs() < 1e-12, "{:?} {by_hand:?}", curve.mean_error);
        }
        let several = if classes == 2 { Scheme::Binary } else { Scheme::OneVersusOne };
        assert_eq!(fitted.model.scheme(), several);
        // The model has the encoding of all rows, and predicts raw rows by it.
        let encoding = fitted.model.encoding().unwrap();
        assert_eq!(Some(encoding), data.encoding());
        assert_eq!(&encoding.encode(&table()).unwrap(), data.design());
        let names = ["x", "x (missing)", "w=p", "w=r", "w=rare", "w (missing)"];
        assert_eq!(fitted.model.feature_names().unwrap(), names);
    }
}

#[test]
fn every_family_keeps_the_encoding_of_its_data() {
    use margins_data::Labels;
    use margins_estimators::{massart, stream};
    use margins_massart::{Problem, Target};

    let label = |row: usize| if row.is_multiple_of(2) { "even" } else { "odd" };
    let labels = Labels::new(&(0..ROWS).map(label).collect::<Vec<_>>()).unwrap();
    let data = Dataset::encoded(table(), labels, EncodeOptions::default()).unwrap();
    let problem = Problem::new(0.15, 0.3).unwrap().with_target(Target::new(0.2, 0.1).unwrap());
    let lambda = Lambda::new(0.1).unwrap();
    let models = [
        stream::StreamSettings::new(lambda).fit(&data).unwrap().model,
        massart::HalfspaceSettings::new(massart::HalfspaceMethod::gradient(problem))
            .fit(&data)
            .unwrap()
            .model,
    ];
    for model in models {
        assert_eq!(model.encoding(), data.encoding());
    }
}
