use super::*;

fn close(found: Option<f64>, expected: f64) -> bool {
    found.is_some_and(|found| (found - expected).abs() < 1e-12)
}

const SCORES: [f64; 28] = [
    0.9, 0.2, 0.1, 0.4, 0.6, 0.7, 0.6, 0.1, 0.6, 0.7, 0.3, 0.3, 0.2, 0.1, 0.2, 0.2, 0.5, 0.7, 0.4, 0.45, 0.4, 0.3, 0.1,
    0.3, 0.1, 0.9, 0.2, 0.2,
];
const TRUTH: [u8; 28] = [
    1, 0, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1,
];

fn names() -> Vec<String> {
    ["rain", "wind", "snow", "fog"].map(String::from).into()
}

/// The numbers of `reference/multi_label.py`.
#[test]
fn as_scikit_learn_has_it() {
    let found = LabelsReport::new(&names(), &SCORES, &TRUTH);
    let of = |value: fn(&LabelReport) -> Option<f64>| found.per_label.iter().map(value).collect::<Vec<_>>();
    assert_eq!(of(|label| label.precision), [Some(0.75), Some(0.75), Some(0.0), None]);
    assert_eq!(of(|label| label.recall), [Some(0.75), Some(1.0), None, Some(0.0)]);
    let areas = of(|label| label.average_precision);
    assert!(
        close(areas[0], 0.804_166_666_666_666_7) && close(areas[1], 0.833_333_333_333_333_3),
        "{areas:?}"
    );
    assert!(
        areas[2].is_none() && close(areas[3], 0.833_333_333_333_333_3),
        "{areas:?}"
    );
    assert!(close(found.mean_average_precision, 0.823_611_111_111_111_1));
    assert!(close(found.always_the_same, 0.476_190_476_190_476_2));
    assert!(close(found.macro_f1, 0.401_785_714_285_714_3) && close(found.micro_f1, 0.631_578_947_368_421));
    assert!(close(Some(found.exact_match), 0.285_714_285_714_285_7));
    assert_eq!(found.absent(), ["snow"]);
}

#[test]
fn parts_are_pooled_by_their_counts() {
    let all = LabelsReport::new(&names(), &SCORES, &TRUTH);
    let [one, other] = [0..12, 12..28].map(|own| LabelsReport::new(&names(), &SCORES[own.clone()], &TRUTH[own]));
    let pooled = LabelsReport::pooled(&[(3, &one), (4, &other)]);
    assert_eq!((pooled.macro_f1, pooled.micro_f1), (all.macro_f1, all.micro_f1));
    assert_eq!(
        (pooled.exact_match, pooled.always_the_same),
        (all.exact_match, all.always_the_same)
    );
    let [first, second] = [&one, &other].map(|part| part.per_label[0].average_precision.unwrap());
    assert!(close(
        pooled.per_label[0].average_precision,
        (2.0 * first + 2.0 * second) / 4.0
    ));
    assert_eq!(pooled.per_label[2].average_precision, None);
    assert_eq!(LabelsReport::pooled(&[]), LabelsReport::default());
}

#[test]
fn what_there_is_not_is_none() {
    let nothing = LabelsReport::new(&names()[..1], &[0.1, 0.2], &[0, 0]);
    assert_eq!(
        (nothing.mean_average_precision, nothing.macro_f1, nothing.micro_f1),
        (None, None, None)
    );
    assert_eq!((nothing.exact_match, nothing.absent()), (1.0, vec!["rain"]));
}
