//! The kernels of the equilibrium family: solutions against the equation itself, gradients against finite differences and long
//! unrolling, the facts that follow from the rule, the bits, and hard cases.

mod bits;
mod case;
mod gradients;
mod rule;
mod solutions;
#[path = "../support/mod.rs"]
mod support;
