//! Head: the last states become class logits, a loss and the gradient at the states.
