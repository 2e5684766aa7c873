//! Systems of linear equations by Gaussian elimination with partial pivoting.

/// Solves `system x = right` in place: `system` `[n,n]` is destroyed, `right` `[n]` becomes `x`. A singular matrix gives numbers that are
/// not finite.
pub(super) fn eliminate(n: usize, system: &mut [f32], right: &mut [f32]) {
    for k in 0..n {
        exchange(n, k, system, right);
        let next = k.wrapping_add(1);
        let halves = system.split_at_mut_checked(next.saturating_mul(n));
        let (Some((upper, lower)), Some((solved, open))) = (halves, right.split_at_mut_checked(next)) else {
            return;
        };
        let pivot_row = upper.rchunks_exact(n.max(1)).next().unwrap_or(&[]);
        let inverse = 1.0 / pivot_row.get(k).copied().unwrap_or(0.0);
        let pivot_right = solved.last().copied().unwrap_or(0.0);
        for (line, right) in lower.chunks_exact_mut(n.max(1)).zip(open) {
            let factor = -(line.get(k).copied().unwrap_or(0.0) * inverse);
            for (to, from) in line.iter_mut().zip(pivot_row).skip(next) {
                *to += *from * factor;
            }
            *right += pivot_right * factor;
        }
    }
    for (k, line) in system.chunks_exact(n.max(1)).enumerate().rev() {
        let next = k.wrapping_add(1);
        let Some((open, solved)) = right.split_at_mut_checked(next) else {
            return;
        };
        let Some(own) = open.last_mut() else { return };
        let products = line.iter().skip(next).zip(solved.iter());
        let sum = products.fold(*own, |sum, (a, x)| sum - a * x);
        *own = sum / line.get(k).copied().unwrap_or(0.0);
    }
}

/// Brings the largest number of column `k` from row `k` on to row `k`; of equals the first.
fn exchange(n: usize, k: usize, system: &mut [f32], right: &mut [f32]) {
    let (mut best, mut largest) = (k, 0.0);
    for (line, row) in system.chunks_exact(n.max(1)).enumerate().skip(k) {
        let value = row.get(k).copied().unwrap_or(0.0);
        let size = if value < 0.0 { -value } else { value };
        if size > largest {
            (best, largest) = (line, size);
        }
    }
    if best == k {
        return;
    }
    if let Some((upper, lower)) = system.split_at_mut_checked(best.saturating_mul(n)) {
        let rows = upper.chunks_exact_mut(n.max(1)).nth(k).into_iter().flatten();
        rows.zip(lower).for_each(|(one, other)| core::mem::swap(one, other));
    }
    if let Some((upper, lower)) = right.split_at_mut_checked(best) {
        let both = upper.get_mut(k).zip(lower.first_mut());
        both.into_iter().for_each(|(one, other)| core::mem::swap(one, other));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_whose_first_pivot_is_zero_is_solved() {
        let mut system = [0.0, 2.0, 1.0, 3.0, -1.0, 2.0, 1.0, 1.0, 1.0];
        let mut right = [2.0 * -2.0 + 3.0, 3.0 + 2.0 + 6.0, 1.0 - 2.0 + 3.0];
        eliminate(3, &mut system, &mut right);
        for (found, exact) in right.into_iter().zip([1.0, -2.0, 3.0]) {
            assert!((found - exact).abs() < 1e-6, "{right:?}");
        }
    }

    #[test]
    fn a_singular_system_gives_no_numbers() {
        let (mut system, mut right) = ([1.0, 1.0, 1.0, 1.0], [1.0, 2.0]);
        eliminate(2, &mut system, &mut right);
        assert!(right.iter().any(|x| !x.is_finite()));
    }
}
