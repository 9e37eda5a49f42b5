/* symbol_names.h - the names of all functions of a program, and of its data. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct image;
struct symbolizer;

/* The name of a variable, demangled, and how far into it the place is; borrowed
 * until the function returns. Returns 0, or -1 and *err. */
typedef int data_names_fn(void *arg, uint64_t off, const char *name,
			  uint64_t inside, struct err *err);
/* Calls fn for each of n places that is in a variable which can be written and
 * has a symbol. off: of the place, counted from the start of the file as its
 * code is mapped. Without a proof that the file is the one that was mapped
 * there are no names. Returns 0, or -1 and *err of fn. */
int data_names_each(struct symbolizer *sy, const struct image *img,
		    const uint64_t *off, size_t n, data_names_fn *fn, void *arg,
		    struct err *err);

/* Calls fn for each function symbol of an image's file, as it is and demangled,
 * and of its debug file if the file was stripped; names may come twice. Returns
 * whether these are all functions that were compiled: the file is proved by its
 * build-id, and its table has local symbols, which 'strip --discard-all'
 * removes and the start-up code of each program has. */
typedef void function_names_fn(void *arg, const char *name);
bool function_names_each(struct symbolizer *sy, const struct image *img,
			 function_names_fn *fn, void *arg);
