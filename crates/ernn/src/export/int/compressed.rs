//! Matrices of `int8` without their zeros, as training with `sparsity` leaves them; the storages are those of `ernn_core::int`.

/// The storage that takes the fewest bytes, and those; of equals the first, which is the fastest to read.
pub(super) fn smallest(weights: Vec<i8>, columns: usize) -> (u8, Vec<i8>) {
    let (masks, gaps) = (masked(&weights, columns), gapped(&weights, columns));
    let all = [(0, Some(weights)), (1, Some(masks)), (2, gaps)];
    let present = all.into_iter().filter_map(|(storage, bytes)| Some((storage, bytes?)));
    present.min_by_key(|(_, bytes)| bytes.len()).unwrap_or_default()
}

/// Of each eight columns a mask, and the weights that are not 0.
fn masked(weights: &[i8], columns: usize) -> Vec<i8> {
    let mut bytes = Vec::new();
    for row in weights.chunks_exact(columns) {
        for eight in row.chunks(8) {
            let bit = |(place, &weight): (usize, &i8)| u8::from(weight != 0) << place;
            bytes.push(eight.iter().enumerate().map(bit).sum::<u8>() as i8);
            bytes.extend(eight.iter().filter(|&&weight| weight != 0));
        }
    }
    bytes
}

/// Of each row the number of weights, and each one with the columns that are passed over before it; none if a row has more than 255.
fn gapped(weights: &[i8], columns: usize) -> Option<Vec<i8>> {
    let mut bytes = Vec::new();
    for row in weights.chunks_exact(columns) {
        let mut entries: Vec<[i8; 2]> = Vec::new();
        let mut passed = 0_u8;
        for &weight in row {
            // A gap that is too long for a byte ends with a weight of 0.
            if weight != 0 || passed == u8::MAX {
                entries.push([passed as i8, weight]);
                passed = 0;
            } else {
                passed += 1;
            }
        }
        bytes.push(u8::try_from(entries.len()).ok()? as i8);
        bytes.extend(entries.into_iter().flatten());
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_storage_is_chosen_where_it_is_the_smallest() {
        let with = |columns: usize, every: usize| {
            let weights = (0..4 * columns).map(|place| i8::from(place % every == 0));
            smallest(weights.collect(), columns)
        };
        assert_eq!(with(16, 1), (0, vec![1; 64]));
        let (storage, bytes) = with(16, 2);
        assert_eq!((storage, bytes.len()), (1, 4 * (2 + 8)));
        assert_eq!(&bytes[..5], &[0x55, 1, 1, 1, 1]);
        let (storage, bytes) = with(48, 24);
        assert_eq!((storage, bytes.len()), (2, 4 * (1 + 4)));
        assert_eq!(&bytes[..5], &[2, 0, 1, 23, 1]);
        assert_eq!(with(9, 1).0, 0, "nothing is gained where there are no zeros");
    }

    #[test]
    fn long_gaps_have_stations() {
        let mut row = vec![0; 600];
        row[599] = 7;
        assert_eq!(gapped(&row, 600), Some(vec![3, -1, 0, -1, 0, 87, 7]));
        assert_eq!(gapped(&[1; 256], 256), None, "more weights than a byte counts");
    }
}
