/* data_names.h - names of the futexes that are data of programs, for report
 * --latency. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct err;
struct store;
struct symbolizer;

/* A thread that waited at an address. */
struct lock_futex {
	uint64_t addr;
	unsigned int capture; /* its number, from 0 on */
	uint32_t thread;      /* thread.id; 0: not known */
};

/* Stores as meta "data OFF IMAGE" the name of each variable of a file in which
 * one of the futexes may be, whenever the file was mapped below it: who reads
 * it knows the time (cli/names/data_maps.h). Behind the call-site check, which
 * may doubt a file. Returns 0, or -1 and *err. */
int data_names_store(struct store *db, struct symbolizer *sy,
		     const struct lock_futex *futex, size_t n, struct err *err);
