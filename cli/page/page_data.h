/* page_data.h - the data that the scripts of an HTML page work on.
 *
 * Blocks of the page, none of which is a script: "meta" is JSON, the others
 * are unsigned LEB128 numbers in base64. Version 2:
 *
 * - nodes: the tree of stacks, parents before children, a node's subtree
 *   after it: depth, label
 * - groups: what samples have in common: event, thread, verdict, node, and
 *   the node on the way to it that was inferred (0: none)
 * - waits, runs: see page_data.c
 * - times: of each item of requests, chains, losses and findings, nearly in
 *   order of time: its key * 4, + 1 if it has an end of its own, + 2 if it
 *   stands for another number than 1; zigzag of time's difference to the item
 *   before (0: not known, else 1 + bins since t0); the end likewise, as a plain
 *   number; the number
 * - samples: in time order: zigzag of time's difference to the sample before
 *   (0: no time, else 1 + bins since t0), group, cpu + 1, zigzag of weight's
 *   difference to the sample of that event before
 * - intervals: likewise the times between two events that belong together: time
 *   is that of the begin or, without one, the end; weight is the length in ns,
 *   or what is known of it: as much at most if it is consistent or ambiguous,
 *   at least if it began before or is unfinished, else 0. Each is followed by
 *   16 * the number of its name, which also says why it is not proved, + its
 *   verdict
 * - meta: version, t0 and bin (ns; texts, as they may need 64 bits), bins,
 *   sizes (how many nodes, groups, samples), event (to show first), clock
 *   (the event that is added to the waits; -1: none), events, trust (the
 *   sentence of each event, then of clock and waits together), waits, times,
 *   intervals, inlined_rows (inlined functions have rows in the table), plain
 *   (without options 'flame' draws the same), threads, verdicts, strings,
 *   labels, colors, bands, marks: see the functions that write them
 *
 * Times are cut to bins of 1, 2 or 5 times a power of ten ns, of which there
 * are at most a million.
 *
 * Only some pages have what changed between two recordings, and the code of the
 * hot functions: two blocks each. For a difference, "diff" is JSON: event,
 * absolute, the sentences of 'diff', weights of both sides, their scale,
 * labels, functions and how they are judged; "diff_nodes" has numbers for
 * each node of the tree of both recordings, parents before children: depth,
 * label, weight in A and in B, samples in A and in B, all with what is above.
 *
 * For code, "code" is JSON with files and functions; "spots" has a number for
 * each group of samples: 1 + the instruction, counted over all functions, in
 * which its samples were taken; 0: in none that is in the page. So the page
 * counts instructions and lines within what is chosen. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

#include "analyze/names/name_opts.h"

struct diff_model;
struct err;
struct filter;
struct offcpu_sums;
struct page_data;
struct page_sides;
struct stacks;
struct store;

struct page_opts {
	const struct filter *filter; /* which samples; borrowed for
				      * the life of the page */
	bool inlined;		     /* with inlined functions */
	bool inlined_rows; /* inlined functions have rows in the table */
	bool samples;	   /* each sample weighs 1 */
	bool wall;	   /* shows waits with samples first */
	struct name_opts names;
	bool source;		      /* with the code of the hot functions */
	const struct name_ask *files; /* for source: where programs are */
	/* for source: folders below which source files are looked for, too */
	const char *const *source_dir;
	size_t n_source_dir;
	/* what changed since another recording; borrowed; or NULL */
	const struct diff_model *diff;
	struct page_sides *sides; /* the times of both; borrowed; or NULL */
};

/* What the page shows around its data; valid until page_data_free(). */
struct page_shown {
	struct stacks *stacks;
	int event; /* of the samples to show first; -1: there is none */
	/* how far the user stacks of what is shown first can be trusted; NULL:
	 * there is no sample */
	const char *trust;
	const struct offcpu_sums *waits;
	bool served; /* samples are sums of a server, without times */
};

/* Loads the data of a page, and fills *shown. Returns what page_data_free()
 * frees, or NULL and *err. */
struct page_data *page_data_new(struct store *db, const char *path,
				const struct page_opts *o,
				struct page_shown *shown, struct err *err);
void page_data_free(struct page_data *d);
/* Writes the blocks. */
void page_data_write(const struct page_data *d, FILE *out);
