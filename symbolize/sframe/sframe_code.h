/* sframe_code.h - checks an SFrame section against the code it describes. */
#pragma once

struct err;
struct judge;

/* Runs the tests that disassemble the functions. Returns 0, or -1 and *err if
 * the machine cannot be disassembled. */
int sframe_code_check(struct judge *j, struct err *err);
