/* diff_alone.h - says when most of two recordings cannot be compared, because
 * the other one has no function of that name and image: a program that was
 * renamed, or another program. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

struct diff_rows;

/* Writes one line, without its end, if more than half of the weight of user
 * code on one side is of functions that the other side does not have. Returns
 * whether it wrote. Says nothing of rows that are not the functions of
 * images. */
bool diff_alone_tell(const struct diff_rows *d, FILE *out);
