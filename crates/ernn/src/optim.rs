//! Optimisers over one flat parameter vector with named spans.
