//! The model: layers of cells and a readout over one flat parameter vector.
