//! Configurations of the cells in Burn's way: `Config::new(d_input, d_hidden).with_setting(..).init(&device)`.
//!
//! The settings and their defaults are those of [`ernn::cell`]; its documentation says where they come from.

mod antisymmetric;
mod deep_transition;
mod ernn;
mod fastgrnn;
mod fastrnn;
mod gated_antisymmetric;
mod gru;
mod lstm;
mod rnn;
mod spectral;
mod ugrnn;

pub use self::antisymmetric::AntisymmetricConfig;
pub use self::deep_transition::DeepTransitionConfig;
pub use self::ernn::ErnnConfig;
pub use self::fastgrnn::FastGrnnConfig;
pub use self::fastrnn::FastRnnConfig;
pub use self::gated_antisymmetric::GatedAntisymmetricConfig;
pub use self::gru::GruConfig;
pub use self::lstm::LstmConfig;
pub use self::rnn::RnnConfig;
pub use self::spectral::SpectralConfig;
pub use self::ugrnn::UgrnnConfig;
