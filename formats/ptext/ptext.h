/* ptext.h - the reader of texts of 'perf script', and of folded stacks. */
#pragma once

extern const struct source_ops ptext_ops;
