//! Rows on an even grid, beside scipy (`reference/recordings.py`).

use proptest::prelude::*;

use super::super::grid::Grid;

#[test]
fn rows_are_put_onto_a_grid_as_scipy_does() {
    let index: Vec<f64> = (0..60).map(f64::from).collect();
    let times: Vec<f64> = index.iter().map(|index| 0.02 * (index + 0.3 * index.sin())).collect();
    let tone = |hertz: f64, time: f64| (2.0 * std::f64::consts::PI * hertz * time).sin();
    let values: Vec<f32> = times
        .iter()
        .map(|&t| (tone(1.3, t) + 0.5 * tone(19.0, t)) as f32)
        .collect();
    let put = |rate| {
        let grid = Grid {
            rate,
            apart: 0.02,
            longest: 0.1,
        };
        grid.put(&times, &values, 1)
    };
    let up = [
        0.0, 0.185315, 0.159355, 0.252860, 0.847665, 0.542227, 0.477646, 1.246433, 0.796934, 0.689992, 1.373816,
        1.063621,
    ];
    let down = [
        0.025457, 0.386671, 0.758794, 0.980267, 0.996230, 0.898865, 0.639151, 0.315304, -0.100829, -0.522774,
        -0.800250, -0.964478,
    ];
    let ends = [[-0.169782, 0.290474, -0.204648], [0.729592, 0.502365, -0.051531]];
    for (rate, steps, first, last) in [(60.0, 72, up, ends[0]), (20.0, 24, down, ends[1])] {
        let found = put(rate).values;
        assert_eq!(found.len(), steps);
        let expected = first.iter().chain(&last);
        for (found, expected) in found[..12].iter().chain(&found[steps - 3..]).zip(expected) {
            assert!(
                (f64::from(*found) - expected).abs() < 2e-6,
                "{rate}: {found} {expected}"
            );
        }
    }
    assert_eq!(put(60.0).rows[..4], [0, 1, 1, 2]);
}

#[test]
fn what_is_missing_in_a_channel_is_filled_over_short_times_only() {
    let grid = Grid {
        rate: 20.0,
        apart: 0.1,
        longest: 0.35,
    };
    let times: Vec<f64> = (0..12).map(|row| 0.1 * f64::from(row)).collect();
    let mut values: Vec<f32> = (0..12).map(|row| row as f32).collect();
    values[2] = f32::NAN;
    values[6..10].fill(f32::NAN);
    let found = grid.put(&times, &values, 1).values;
    assert!((found[4] - 2.0).abs() < 1e-5, "{found:?}");
    assert!(found[11..19].iter().all(|value| value.is_nan()) && !found[10].is_nan() && !found[20].is_nan());
}

proptest! {
    /// Steps of a grid lie between the smallest and the largest row, whatever the times.
    #[test]
    fn a_straight_line_makes_nothing_up(apart in proptest::collection::vec(0.001f64..0.3, 2..60), rate in 1.0f64..200.0) {
        let mut time = 0.0;
        let times: Vec<f64> = apart.iter().map(|apart| { time += apart; time }).collect();
        let values: Vec<f32> = (0..times.len()).map(|row| (row * 7 % 11) as f32).collect();
        let grid = Grid { rate, apart: 1.0 / rate, longest: f64::INFINITY };
        let found = grid.put(&times, &values, 1);
        prop_assert_eq!(found.values.len(), found.rows.len());
        prop_assert!(found.values.iter().all(|value| (0.0..=10.0).contains(value)));
        prop_assert!(found.rows.windows(2).all(|pair| pair[0] <= pair[1]));
    }
}
