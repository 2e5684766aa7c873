//! Seeded randomness: every stream of random numbers is named by what it is for, the seed, and a position.
//!
//! Orders and choices come from ChaCha8. Noise on inputs needs 10^5 normal numbers a batch, so it has a generator of its own:
//! SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) through a ziggurat of 256 layers in `f32` (Marsaglia, Tsang, Journal of
//! Statistical Software 5 (8), 2000), two numbers from one 64-bit word:
//!
//! ```text
//! layer i = 8 bits, u = 24 bits in [-1, 1), z = u x[i]        accepted at once if |z| < x[i + 1], 98.8 % of the time
//! ```

use std::sync::LazyLock;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The stream of random numbers for `purpose` at `position` (an epoch, say) under `seed`; different purposes and positions
/// never share numbers.
pub fn stream(purpose: &[u8; 8], seed: u64, position: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(purpose);
    key[8..16].copy_from_slice(&seed.to_le_bytes());
    key[16..24].copy_from_slice(&position.to_le_bytes());
    ChaCha8Rng::from_seed(key)
}

/// A stream of normal numbers; not for secrets.
pub(crate) struct Normals {
    state: u64,
}

impl Normals {
    /// What SplitMix64 adds to its state for each word, 2^64 / golden ratio.
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

    /// The stream for a seed and two positions, an epoch and a sequence, say.
    pub fn new(seed: u64, first: u64, second: u64) -> Normals {
        let absorb = |state: u64, part: u64| mix(state ^ part).wrapping_add(Self::STEP);
        Normals {
            state: [seed, first, second].into_iter().fold(0, absorb),
        }
    }

    /// The stream for a purpose, a seed and two positions; apart from those of other purposes and of [`Normals::new`].
    pub fn of(purpose: &[u8; 8], seed: u64, first: u64, second: u64) -> Normals {
        let apart = Normals::new(u64::from_le_bytes(*purpose), seed, first);
        Normals::new(apart.state, first, second)
    }

    /// Fills `out` with normal numbers of mean 0 and deviation 1.
    pub fn fill(&mut self, out: &mut [f32]) {
        out.fill(0.0);
        self.add(1.0, out);
    }

    /// Adds normal numbers of mean 0 and this deviation to `values`.
    pub fn add(&mut self, deviation: f32, values: &mut [f32]) {
        let ziggurat = &*ZIGGURAT;
        let mut pairs = values.chunks_exact_mut(2);
        for pair in &mut pairs {
            let word = self.word();
            pair[0] += deviation * ziggurat.normal(word as u32, self);
            pair[1] += deviation * ziggurat.normal((word >> 32) as u32, self);
        }
        if let [value] = pairs.into_remainder() {
            let word = self.word();
            *value += deviation * ziggurat.normal(word as u32, self);
        }
    }

    #[inline(always)]
    fn word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(Self::STEP);
        mix(self.state)
    }

    /// Uniform in (0, 1).
    pub fn uniform(&mut self) -> f64 {
        ((self.word() >> 12) as f64 + 0.5) * 2f64.powi(-52)
    }
}

#[inline(always)]
fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// 256 layers of equal area under exp(-x^2 / 2), x >= 0; the lowest one includes the tail.
struct Ziggurat {
    /// Right edges, falling; the first one is the width of a rectangle with the area of the lowest layer.
    edges: [f32; 257],
    /// exp(-x^2 / 2) there.
    heights: [f64; 257],
}

/// Where the tail begins, and the area of a layer, for 256 layers.
const TAIL: f64 = 3.654_152_885_361_009;
const AREA: f64 = 0.004_928_673_233_974_65;

fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp()
}

static ZIGGURAT: LazyLock<Ziggurat> = LazyLock::new(|| {
    let mut edges = [0.0; 257];
    edges[0] = AREA / density(TAIL);
    edges[1] = TAIL;
    for layer in 2..256 {
        let height = AREA / edges[layer - 1] + density(edges[layer - 1]);
        edges[layer] = (-2.0 * height.ln()).sqrt();
    }
    Ziggurat {
        edges: edges.map(|edge| edge as f32),
        heights: edges.map(density),
    }
});

impl Ziggurat {
    /// A normal number from 32 random bits, and from `more` in the 1.2 % of cases where these do not decide.
    #[inline(always)]
    fn normal(&self, bits: u32, more: &mut Normals) -> f32 {
        let (layer, z) = self.candidate(bits);
        if z.abs() < self.edges[layer + 1] {
            z
        } else {
            self.undecided(layer, z, more)
        }
    }

    /// A layer, and a point in it.
    #[inline(always)]
    fn candidate(&self, bits: u32) -> (usize, f32) {
        let layer = (bits & 255) as usize;
        (
            layer,
            (bits as i32 >> 8) as f32 * (1.0 / 8_388_608.0) * self.edges[layer],
        )
    }

    #[cold]
    #[inline(never)]
    fn undecided(&self, mut layer: usize, mut z: f32, more: &mut Normals) -> f32 {
        loop {
            if layer == 0 {
                return if z < 0.0 { -tail(more) } else { tail(more) };
            }
            let (low, high) = (self.heights[layer], self.heights[layer + 1]);
            if low + (high - low) * more.uniform() < density(f64::from(z)) {
                return z;
            }
            (layer, z) = self.candidate(more.word() as u32);
            if z.abs() < self.edges[layer + 1] {
                return z;
            }
        }
    }
}

/// A normal number beyond [`TAIL`].
fn tail(more: &mut Normals) -> f32 {
    loop {
        let x = -more.uniform().ln() / TAIL;
        let y = -more.uniform().ln();
        if 2.0 * y > x * x {
            return (TAIL + x) as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_have_equal_areas() {
        let ziggurat = &*ZIGGURAT;
        for layer in 1..256 {
            let area = f64::from(ziggurat.edges[layer]) * (ziggurat.heights[layer + 1] - ziggurat.heights[layer]);
            assert!((area - AREA).abs() < 2e-8, "layer {layer}: {area}");
        }
        assert_eq!((ziggurat.edges[256], ziggurat.heights[256]), (0.0, 1.0));
    }

    #[test]
    fn normals_are_distributed_as_they_should() {
        const COUNT: usize = 2_000_000;
        let mut values = vec![0.0; COUNT];
        Normals::new(1, 2, 3).fill(&mut values);
        let share =
            |test: &dyn Fn(f32) -> bool| values.iter().filter(|&&value| test(value)).count() as f64 / COUNT as f64;
        // (bound, probability to lie above it); three of them deep in the tail of the lowest layer.
        for (bound, probability) in [
            (0.0f32, 0.5),
            (0.5, 0.308_537_5),
            (1.0, 0.158_655_3),
            (2.0, 0.022_750_1),
            (3.0, 0.001_349_9),
            (3.7, 0.000_107_8),
            (4.0, 0.000_031_67),
        ] {
            let tolerance = 5.0 * (probability / COUNT as f64).sqrt();
            assert!(
                (share(&|value| value > bound) - probability).abs() < tolerance,
                "above {bound}"
            );
            assert!(
                (share(&|value| value < -bound) - probability).abs() < tolerance,
                "below -{bound}"
            );
        }
        let moment = |power| values.iter().map(|&value| f64::from(value).powi(power)).sum::<f64>() / COUNT as f64;
        for (power, expected) in [(1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0)] {
            assert!(
                (moment(power) - expected).abs() < 0.02,
                "moment {power}: {}",
                moment(power)
            );
        }
        let neighbors = values.windows(2).map(|pair| f64::from(pair[0] * pair[1])).sum::<f64>() / COUNT as f64;
        assert!(neighbors.abs() < 0.005, "{neighbors}");
    }

    #[test]
    fn streams_differ_by_each_of_their_names() {
        let first = |seed, epoch, sequence| {
            let mut out = [0.0; 3];
            Normals::new(seed, epoch, sequence).add(1.0, &mut out);
            out
        };
        let all = [
            first(0, 0, 0),
            first(1, 0, 0),
            first(0, 1, 0),
            first(0, 0, 1),
            first(1, 1, 0),
            first(0, 1, 1),
        ];
        for (index, one) in all.iter().enumerate() {
            assert!(all[..index].iter().all(|other| other != one));
        }
        assert_eq!(first(4, 5, 6), first(4, 5, 6));
    }
}
