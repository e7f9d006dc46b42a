//! The test-kit of `margins-losses` on both losses, and their known special cases.

use custom_losses::{DistanceWeighted, Tsallis, register};
use margins_losses::{Hinge, Logistic, LossRegistry, MarginLoss, testkit};

#[test]
fn both_losses_keep_the_contract() {
    for q in [0.1, 0.5, 1.0, 2.0, 10.0] {
        testkit::check(&DistanceWeighted::new(q).unwrap());
    }
    for alpha in [1.1, 1.25, 1.5, 1.75, 2.0] {
        testkit::check(&Tsallis::new(alpha).unwrap());
    }
}

/// Large q is the hinge loss, alpha near 1 the logistic loss, and alpha = 2 a parabola between two
/// lines.
#[test]
fn limits_are_the_losses_they_should_be() {
    let near_hinge = DistanceWeighted::new(100.0).unwrap();
    let near_logistic = Tsallis::new(1.01).unwrap();
    let sparsemax = Tsallis::new(2.0).unwrap();
    for u in [-3.0, -1.0, -0.3, 0.0, 0.4, 0.9, 1.0, 2.5] {
        assert!((near_hinge.value(u) - Hinge.value(u)).abs() < 0.02, "{u}");
        assert!((near_logistic.value(u) - Logistic.value(u)).abs() < 0.02, "{u}");
        let parabola = if u <= -1.0 { -u } else { (1.0f64 - u).max(0.0).powi(2) / 4.0 };
        assert!((sparsemax.value(u) - parabola).abs() < 1e-14, "{u}");
    }
}

#[test]
fn parameters_out_of_range_and_unknown_names_are_refused() {
    let losses = register(LossRegistry::standard());
    for wrong in ["dwd:q=0", "dwd:q=NaN", "tsallis:alpha=1", "tsallis:alpha=2.5", "dwd:p=1"] {
        assert!(losses.parse(wrong).is_err(), "{wrong}");
    }
    let unknown = LossRegistry::standard().parse("tsallis").unwrap_err().to_string();
    assert!(unknown.contains("unknown loss 'tsallis'"), "{unknown}");
}
