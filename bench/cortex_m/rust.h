/* The functions of `shim.rs`, as `board.c` expects those of a model. */
#ifndef RUST_H
#define RUST_H

int rust_selftest(void);
int rust_steps(int count);

#endif
