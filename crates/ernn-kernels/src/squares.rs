//! Rows of sequences to the rows of a panel and back: a transposition, in squares that stay in registers.
//!
//! ```text
//! panel[feature][lane] = rows[lane][feature]
//! ```

/// Side of a square; panels have a multiple of it, or half of it, lanes.
const SIDE: usize = 8;

/// Writes `panel` `[features][lanes]` from one row `[features]` a lane.
pub(crate) fn to_lanes<F: Copy>(rows: &[&[F]], features: usize, panel: &mut [F]) {
    let lanes = rows.len();
    let whole = features - features % SIDE;
    let mut squares = rows.chunks_exact(SIDE);
    for (group, rows) in squares.by_ref().enumerate() {
        for feature in (0..whole).step_by(SIDE) {
            let square: [&[F; SIDE]; SIDE] = std::array::from_fn(|lane| square_row(rows[lane], feature));
            for (index, out) in panel[feature * lanes..].chunks_mut(lanes).take(SIDE).enumerate() {
                let out = &mut out[group * SIDE..][..SIDE];
                for (value, row) in out.iter_mut().zip(square) {
                    *value = row[index];
                }
            }
        }
        copy_rest(rows, whole..features, lanes, group * SIDE, panel);
    }
    let rest = squares.remainder();
    copy_rest(rest, 0..features, lanes, lanes - rest.len(), panel);
}

fn copy_rest<F: Copy>(rows: &[&[F]], features: std::ops::Range<usize>, lanes: usize, first: usize, panel: &mut [F]) {
    for (lane, row) in rows.iter().enumerate() {
        for feature in features.clone() {
            panel[feature * lanes + first + lane] = row[feature];
        }
    }
}

/// Writes the rows `[lanes in use][features]` of the first lanes of `panel` `[features][lanes]`.
pub(crate) fn from_lanes<F: Copy>(panel: &[F], lanes: usize, features: usize, rows: &mut [F]) {
    let whole = features - features % SIDE;
    for (group, rows) in rows.chunks_mut(SIDE * features.max(1)).enumerate() {
        let first = group * SIDE;
        let in_squares = if rows.len() == SIDE * features { whole } else { 0 };
        for feature in (0..in_squares).step_by(SIDE) {
            let square: [&[F; SIDE]; SIDE] =
                std::array::from_fn(|index| square_row(&panel[(feature + index) * lanes..], first));
            for (lane, row) in rows.chunks_exact_mut(features).enumerate() {
                for (value, of_feature) in row[feature..feature + SIDE].iter_mut().zip(square) {
                    *value = of_feature[lane];
                }
            }
        }
        for (lane, row) in rows.chunks_exact_mut(features.max(1)).enumerate() {
            for (feature, value) in row.iter_mut().enumerate().skip(in_squares) {
                *value = panel[feature * lanes + first + lane];
            }
        }
    }
}

/// Eight numbers of a row.
fn square_row<F>(row: &[F], from: usize) -> &[F; SIDE] {
    row[from..from + SIDE].try_into().expect("as long as asked for")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_for_all_sizes() {
        for lanes in [2, 4, 8, 16, 32] {
            for features in [1, 7, 8, 9, 16, 30] {
                let rows: Vec<Vec<u32>> = (0..lanes)
                    .map(|lane| (0..features).map(|feature| (lane * 100 + feature) as u32).collect())
                    .collect();
                let views: Vec<&[u32]> = rows.iter().map(Vec::as_slice).collect();
                let mut panel = vec![u32::MAX; lanes * features];
                to_lanes(&views, features, &mut panel);
                for (at, value) in panel.iter().enumerate() {
                    assert_eq!(
                        *value as usize,
                        at % lanes * 100 + at / lanes,
                        "{lanes} lanes, {features} features"
                    );
                }
                for used in 0..=lanes {
                    let mut out = vec![u32::MAX; used * features];
                    from_lanes(&panel, lanes, features, &mut out);
                    assert_eq!(
                        out,
                        rows[..used].concat(),
                        "{used} of {lanes} lanes, {features} features"
                    );
                }
            }
        }
    }
}
