/* compare_symbols.h - functions that only one side of a comparison has, by the
 * symbols of the programs that ran. */
#pragma once

struct compare;

/* Reads the symbols of programs for c->only, which compare_judge() wants. A
 * program that is not at hand, or has no symbols, proves nothing. */
void compare_prove_only(struct compare *c);
