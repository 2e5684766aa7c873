//! Rounding that looks at the data: what one weight loses, the later ones of its row make good as far as they can.
//!
//! ```text
//! H = mean of v v^T + 0.01 mean(diag H) I         v: what the matrix is multiplied by, on the calibration data
//! H^-1 = U^T U                                    U upper triangular
//! for each column j:   q_j = round(w_j / s),  w_k -= (w_j - s q_j) U_jk / U_jj  for k > j
//! ```
//!
//! This makes `(w - s q)^T H (w - s q)`, the squared error of the product, small instead of that of the weights (Frantar et al., GPTQ,
//! arXiv 2210.17323; from the optimal brain surgeon). It matters where errors stay: an orthogonal recurrence never forgets one. Weights of 0
//! stay 0.

/// Steps of which one is looked at.
const EVERY: usize = 4;
/// Share of the mean of the diagonal that is added to it.
const DAMPING: f64 = 0.01;

/// The second moments of what a matrix is multiplied by.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Moment {
    size: usize,
    /// The lower triangle of the sum of `v v^T`, row after row; empty before the first `v`.
    sums: Vec<f64>,
    seen: usize,
}

impl Moment {
    /// Looks at every fourth one; those of another size, as an LSTM's memory beside its state, are passed over.
    pub fn add(&mut self, values: &[f32]) {
        self.seen += 1;
        if self.seen % EVERY == 1 {
            self.look_at(values);
        }
    }

    /// Looks at these, if they are of the size of the first ones.
    pub fn look_at(&mut self, values: &[f32]) {
        if self.size > 0 && self.size != values.len() {
            return;
        }
        self.size = values.len();
        self.sums.resize(self.size * (self.size + 1) / 2, 0.0);
        let mut rest = &mut self.sums[..];
        for (row, &left) in values.iter().enumerate() {
            let (own, tail) = rest.split_at_mut(row + 1);
            own.iter_mut()
                .zip(values)
                .for_each(|(sum, &right)| *sum += f64::from(left) * f64::from(right));
            rest = tail;
        }
    }

    /// How errors are passed on in rows of this many columns; none if nothing of the kind was seen, or only zeros.
    pub fn passing(&self, columns: usize) -> Option<Passing> {
        let n = self.size;
        if n == 0 || n != columns {
            return None;
        }
        let mut h = vec![0.0; n * n];
        for row in 0..n {
            for column in 0..=row {
                let value = self.sums[row * (row + 1) / 2 + column];
                (h[row * n + column], h[column * n + row]) = (value, value);
            }
        }
        let damping = DAMPING * (0..n).map(|unit| h[unit * (n + 1)]).sum::<f64>() / n as f64;
        (0..n).for_each(|unit| h[unit * (n + 1)] += damping);
        // H = L L^T, H^-1 = L^-T L^-1, and that once more.
        let inverse = inverse_of_lower(n, &cholesky(n, &h)?);
        let mut h = vec![0.0; n * n];
        for row in 0..n {
            for column in 0..=row {
                let sum = (row..n).map(|k| inverse[k * n + row] * inverse[k * n + column]).sum();
                (h[row * n + column], h[column * n + row]) = (sum, sum);
            }
        }
        let lower = cholesky(n, &h)?;
        let quotient = |place: usize| lower[place % n * n + place / n] / lower[place / n * (n + 1)];
        Some(Passing {
            size: n,
            quotients: (0..n * n).map(quotient).collect(),
        })
    }
}

/// How much of a weight's error each later weight of its row makes good.
pub(super) struct Passing {
    size: usize,
    /// `U_jk / U_jj`.
    quotients: Vec<f64>,
}

/// A row in whole steps, from `-largest` to `largest`.
pub(super) fn rounded_row(row: &[f32], step: f64, largest: f64, passing: Option<&Passing>) -> Vec<i8> {
    let whole = |value: f64| (value / step).round().clamp(-largest, largest);
    let Some(passing) = passing else {
        return row.iter().map(|&value| whole(f64::from(value)) as i8).collect();
    };
    let mut values: Vec<f64> = row.iter().map(|&value| f64::from(value)).collect();
    let mut found = Vec::with_capacity(row.len());
    for column in 0..row.len() {
        let nearest = whole(values[column]);
        let error = values[column] - nearest * step;
        found.push(nearest as i8);
        let quotients = &passing.quotients[column * passing.size..][..passing.size];
        let later = values.iter_mut().zip(row).zip(quotients).skip(column + 1);
        for ((value, &original), quotient) in later {
            if original != 0.0 {
                *value -= error * quotient;
            }
        }
    }
    found
}

/// `L` of `L L^T`; none if the matrix is not positive definite.
fn cholesky(n: usize, matrix: &[f64]) -> Option<Vec<f64>> {
    let mut lower = vec![0.0; n * n];
    for row in 0..n {
        for column in 0..=row {
            let [one, other] = [row, column].map(|line| &lower[line * n..][..column]);
            let products: f64 = one.iter().zip(other).map(|(a, b)| a * b).sum();
            let rest: f64 = matrix[row * n + column] - products;
            lower[row * n + column] = if row == column {
                (rest > 0.0).then(|| rest.sqrt())?
            } else {
                rest / lower[column * (n + 1)]
            };
        }
    }
    Some(lower)
}

/// `L^-1`.
fn inverse_of_lower(n: usize, lower: &[f64]) -> Vec<f64> {
    let mut inverse = vec![0.0; n * n];
    for column in 0..n {
        for row in column..n {
            let sum: f64 = (column..row)
                .map(|k| lower[row * n + k] * inverse[k * n + column])
                .sum();
            let own = if row == column { 1.0 } else { 0.0 };
            inverse[row * n + column] = (own - sum) / lower[row * (n + 1)];
        }
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that move together, as a network's states do.
    fn vectors() -> Vec<Vec<f32>> {
        let wave = |place: usize, step: usize| ((place * 7 + step * 3) as f32 * 0.37).sin();
        let vector = |step| {
            (0..12)
                .map(|place| wave(place % 4, step) + 0.1 * wave(place, step * step))
                .collect()
        };
        (0..400).map(vector).collect()
    }

    fn error(row: &[f32], whole: &[i8], step: f64) -> f64 {
        let squared = |vector: &Vec<f32>| {
            let weights = row
                .iter()
                .zip(whole)
                .map(|(&exact, &whole)| f64::from(exact) - f64::from(whole) * step);
            weights
                .zip(vector)
                .map(|(error, &value)| error * f64::from(value))
                .sum::<f64>()
                .powi(2)
        };
        vectors().iter().map(squared).sum()
    }

    #[test]
    fn the_products_are_nearer_than_those_of_the_nearest_weights() {
        let mut moment = Moment::default();
        vectors().iter().for_each(|vector| moment.add(vector));
        let passing = moment.passing(12).unwrap();
        let row: Vec<f32> = (0..12).map(|place| ((place * place) as f32 * 0.7).cos()).collect();
        let step = 1.0 / 12.0;
        let [nearest, passed] = [None, Some(&passing)].map(|passing| rounded_row(&row, step, 127.0, passing));
        assert!(error(&row, &passed, step) < 0.5 * error(&row, &nearest, step));
        assert!(moment.passing(11).is_none(), "rows of another length");
    }

    #[test]
    fn zeros_stay_zeros() {
        let mut moment = Moment::default();
        vectors().iter().for_each(|vector| moment.add(vector));
        let row: Vec<f32> = (0..12).map(|place| if place % 3 == 0 { 0.0 } else { 0.31 }).collect();
        let found = rounded_row(&row, 0.1, 127.0, moment.passing(12).as_ref());
        assert!(
            row.iter()
                .zip(&found)
                .all(|(&value, &whole)| value != 0.0 || whole == 0),
            "{found:?}"
        );
    }

    #[test]
    fn without_correlations_each_weight_is_rounded_for_itself() {
        let mut moment = Moment::default();
        for place in 0..16 {
            // Every fourth is looked at.
            (0..4).for_each(|_| {
                moment.add(
                    &(0..4)
                        .map(|unit| f32::from(u8::from(unit == place % 4)))
                        .collect::<Vec<_>>(),
                )
            });
        }
        let row = [0.26, -0.74, 0.5, 0.1];
        let passing = moment.passing(4);
        assert!(passing.is_some());
        assert_eq!(
            rounded_row(&row, 0.1, 127.0, passing.as_ref()),
            rounded_row(&row, 0.1, 127.0, None)
        );
    }
}
