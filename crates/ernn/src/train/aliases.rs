//! Settings under the names that other programs give them.

/// Names of flags, and what else they are called; a setting of `config.toml` has `_` in the place of `-`.
pub const ALIASES: [(&str, &[&str]); 34] = [
    ("learning-rate", &["lr", "alpha", "learn-rate"]),
    (
        "hidden",
        &[
            "hidden-size",
            "hidden-dim",
            "hidden-units",
            "units",
            "n-hidden",
            "num-hidden",
            "size",
            "dim",
            "width",
        ],
    ),
    ("batch-size", &["batch", "bs", "batchsize", "minibatch", "b"]),
    ("layers", &["num-layers", "n-layers", "layer", "depth"]),
    ("weight-decay", &["wd", "l2", "decay"]),
    (
        "iterations",
        &["n-iter", "niter", "iters", "iter", "inner-iterations", "k"],
    ),
    (
        "epochs",
        &["epoch", "n-epochs", "num-epochs", "max-epochs", "max-iter", "e"],
    ),
    (
        "clip-norm",
        &[
            "clip",
            "grad-clip",
            "gradient-clip",
            "clip-grad",
            "max-norm",
            "max-grad-norm",
        ],
    ),
    (
        "cell",
        &["model", "arch", "architecture", "rnn", "cell-type", "kind", "type"],
    ),
    ("cells", &["models"]),
    ("rank", &["r", "low-rank", "wrank", "urank"]),
    ("activation", &["act", "nonlinearity", "update-nonlinearity"]),
    ("gate-activation", &["gate-nonlinearity", "recurrent-activation"]),
    ("optimizer", &["opt", "optim", "optimiser", "solver-kind"]),
    ("schedule", &["scheduler", "lr-schedule", "lr-scheduler"]),
    ("halve-every", &["step-size-lr", "decay-step", "decay-steps", "lr-step"]),
    (
        "validation",
        &[
            "val",
            "val-split",
            "validation-split",
            "validation-fraction",
            "val-size",
            "dev",
        ],
    ),
    ("patience", &["early-stopping", "early-stop"]),
    ("input-noise", &["noise-std", "jitter"]),
    ("seed", &["random-state", "random-seed", "s"]),
    (
        "threads",
        &["n-jobs", "jobs", "j", "workers", "num-workers", "cpus", "num-threads"],
    ),
    (
        "out",
        &["output", "output-dir", "out-dir", "outdir", "o", "save", "save-dir"],
    ),
    (
        "embedding",
        &["emb", "embed", "embedding-dim", "embedding-size", "embed-dim"],
    ),
    ("vocabulary", &["vocab", "vocab-size", "max-features"]),
    ("tbptt", &["bptt", "truncate", "seq-len"]),
    ("class-weights", &["class-weight", "balanced"]),
    ("missing", &["nan", "na", "fill", "fillna", "impute", "on-missing"]),
    (
        "data-dir",
        &["data-path", "datadir", "data-root", "root", "data-folder"],
    ),
    ("eta", &["step-size", "dt"]),
    ("from", &["pretrained", "init-from", "checkpoint", "load", "warm-start"]),
    ("resume", &["continue"]),
    ("average", &["ema", "swa"]),
    ("sparsity", &["prune", "pruning", "sparse"]),
    ("vary", &["grid", "sweep", "param"]),
];

/// Our name for what other programs call otherwise.
pub fn alias(written: &str) -> Option<&'static str> {
    let is_it = |(_, others): &&(&str, &[&str])| others.contains(&written);
    ALIASES.iter().find(is_it).map(|(own, _)| *own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_stands_for_one_setting() {
        assert_eq!(alias("lr"), Some("learning-rate"));
        assert_eq!(alias("learning-rate"), None);
        let mut all: Vec<&str> = ALIASES.iter().flat_map(|(_, others)| others.iter().copied()).collect();
        all.sort_unstable();
        let twice = all.windows(2).find(|pair| pair[0] == pair[1]);
        assert_eq!(twice, None);
    }
}
