/* write.h - writes a database: captures, facts, frames, names.
 *
 * Order of calls between maker_create() and maker_finish(): store_capture() for
 * each source, store_fact() for each fact, store_flush() now and then, then
 * naming: store_unnamed(), store_symbol() for each answer, store_image(). All
 * return 0, or -1 and *err, unless stated otherwise. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/db/door.h"
#include "schema/db/groups.h"
#include "stitch/audit/callsite.h"

struct align_out;
struct code_place;
struct fact;
struct field;
struct frames;
struct image;
struct ledger;
struct section_used;
struct segment;
struct source;
struct symbol;

/* Writes a source's row and those of its event types. Call it after the
 * source's scan, before its first fact, and again at the end or when the source
 * has new events: then counts, times and later facts are updated. */
int store_capture(struct maker *mk, const struct source *src, struct err *err);
/* Replaces the struct of a source from now on. */
void store_capture_source(struct maker *mk, const struct source *src);
/* Writes how a source's times were moved onto the timeline. first: its first
 * time, on its own clock. Without this call its times are as recorded. */
int store_align(struct maker *mk, unsigned int source,
		const struct align_out *a, uint64_t first, struct err *err);
/* From the first fact on, stores only what stacks_load() reads for sums of
 * samples: only events that requested a user stack; no payload, and nothing
 * that views need for texts of stacks. Code and sums stay in memory. For a
 * database that only its maker reads, of captures without late records, named
 * without NAME_HOT_FIRST. */
void store_sums_only(struct maker *mk);
int store_fact(struct maker *mk, const struct fact *f, struct err *err);
/* Returns true if the payload of this event should be decoded for
 * store_fields(). */
bool store_wants_fields(struct maker *mk, const struct source *src,
			uint32_t event);
/* Writes the fields of the event of the last store_fact(), if
 * store_wants_fields() is true. */
int store_fields(struct maker *mk, const struct source *src, uint32_t event,
		 uint32_t event_id, const struct field *f, uint32_t n,
		 struct err *err);
/* Writes new images, frames, stacks and raw chains, and the ledger's
 * entries. */
int store_flush(struct maker *mk, struct ledger *lg, struct err *err);
/* Writes the ledger's entries only, also between two facts. */
int store_entries(struct maker *mk, struct ledger *lg, struct err *err);
/* Write a row of meta; capture is the index of a source, or -1 for the run. */
int store_meta(struct maker *mk, int capture, const char *key,
	       const char *value, struct err *err);
int store_meta_number(struct maker *mk, int capture, const char *key,
		      int64_t value, struct err *err);
/* Writes a row of damage of kind 'note' that belongs to no capture, unless the
 * same row is there. */
int store_note(struct maker *mk, const char *what, const char *detail,
	       struct err *err);

/* How store_unnamed() selects and orders; the same in all calls. */
enum {
	NAME_LINES = 1,	    /* also frames with a name but no source line */
	NAME_HOT_FIRST = 2, /* images in most stacks first */
	NAME_KERNEL =
		4, /* with NAME_LINES: also a kernel that the capture itself
		      named and that has no build-id, as its file was given */
};

/* After store_groups_end(): returns the next image that has frames without a
 * name. Sets *id, *img, *code and *n, borrowed until the next call; code[] is
 * sorted by off, without duplicates. Returns 1, 0 when no image is left, -1 and
 * *err on failure. */
int store_unnamed(struct maker *mk, unsigned int how, uint32_t *id,
		  struct image *img, const struct code_place **code, size_t *n,
		  struct err *err);
/* For a database of sums, when the names of an image are stored: sets *code to
 * the code in functions whose name another function of the image has, borrowed
 * until the next call. A second store_symbol() for it stores its file, which
 * sums need for nothing else. In other databases *n is 0. Returns 0, or -1 and
 * *err. */
int store_shared_names(struct maker *mk, const struct code_place **code,
		       size_t *n, struct err *err);
/* Sets *img to the image of call i of store_unnamed(), counted from 0, without
 * the code of jitted images. *img is borrowed until the next call, *code until
 * the last store_unnamed(). Returns 1, 0 if there is no such image, -1 and
 * *err. */
int store_unnamed_at(struct maker *mk, size_t i, struct image *img,
		     const struct code_place **code, size_t *n,
		     struct err *err);
/* Writes one answer of symbolize_image() for the image of the last
 * store_unnamed(). */
int store_symbol(struct maker *mk, uint32_t image, const struct symbol *sym,
		 struct err *err);
/* Writes the result of naming an image: the file used (NULL: none), a status
 * word, the evidence that the file is the image's (NULL: not judged), and, by
 * its segments, the ELF address of each frame. */
int store_image(struct maker *mk, uint32_t image, const char *file,
		const char *status, const char *identity,
		const struct segment *seg, size_t n, struct err *err);
/* After naming: makes everything that was stored readable by queries. */
int store_readable(struct maker *mk, struct err *err);
/* Writes the sections that an image's names were read from. */
int store_sections(struct maker *mk, uint32_t image,
		   const struct section_used *used, size_t n, struct err *err);

/* The call-site check, after naming: after store_callsites_begin() frames,
 * stacks and what an earlier check found are read; store_callsites_drop()
 * deletes the latter; then the results are written. */
struct store_callsite {
	uint32_t frame;
	enum callsite_kind kind;
	uint64_t target; /* 0: none */
	bool unverified;
};
struct store_link {
	uint32_t inner, frame;
	enum callsite_link link;
};
struct store_stack_check {
	uint32_t stack, checked, bogus;
	uint32_t first; /* 0: no frame is bogus */
	uint32_t image; /* 0: no frame is bogus */
	uint32_t gaps;
	enum callsite_link caller; /* 0: bogus */
	enum walk walked;	   /* 0: NULL */
};
struct store_judged {
	uint32_t stack;
	enum judged judged;
	bool callerless;
	uint32_t image; /* 0: NULL */
};
struct store_end {
	uint32_t frame;
	enum thread_start start; /* 0: NULL */
	enum judged open;	 /* 0: NULL */
	uint32_t bytes;		 /* 0: NULL */
	bool sframe;
};
struct store_frame_share {
	uint32_t image, functions, framed;
};
struct store_user_trust {
	uint32_t type;
	int16_t mark;	    /* 0: NULL */
	uint8_t frames;	    /* 0: NULL */
	const char *judged; /* NULL: there is no user stack */
	int64_t n;
	uint32_t image; /* 0: NULL */
};
/* Returns the raw chain that replaces a stored one, for a stack of a capture
 * (the index of its source), process (row id) and time. */
typedef uint32_t store_again_fn(void *arg, unsigned int source,
				uint32_t process, int64_t t, uint32_t raw);
/* Replaces the user stacks of events and chains with times in [from, until) by
 * the results of fn, and makes the sums of samples again. Call it after
 * store_groups_end(). Costs little if nothing changes. */
int store_again(struct maker *mk, int64_t from, int64_t until,
		store_again_fn *fn, void *arg, struct err *err);
/* Calls fn for each group of samples, after store_groups_end(), like
 * store_groups_each(), whose rows it makes readable if needed. */
int store_groups_made(struct maker *mk, store_group_fn *fn, void *arg,
		      struct err *err);
/* Ends the sums of samples. Call it after the last sample was stored, before
 * they are read. */
int store_groups_end(struct maker *mk, struct err *err);
int store_judged(struct maker *mk, const struct store_judged *j, size_t n,
		 struct err *err);
int store_user_trust(struct maker *mk, const struct store_user_trust *u,
		     size_t n, struct err *err);
int store_callsites_begin(struct maker *mk, struct err *err);
int store_callsites_drop(struct maker *mk, struct err *err);
int store_callsites(struct maker *mk, const struct store_callsite *c, size_t n,
		    struct err *err);
/* why: from identity_why_other(). */
int store_doubt(struct maker *mk, uint32_t image, const char *why,
		struct err *err);
int store_ends(struct maker *mk, const struct store_end *s, size_t n,
	       struct err *err);
int store_frame_share(struct maker *mk, const struct store_frame_share *s,
		      struct err *err);
int store_links(struct maker *mk, const struct store_link *l, size_t n,
		struct err *err);
/* Deletes all links, so that they can be stored again with more. */
int store_links_drop(struct maker *mk, struct err *err);
int store_stack_checks(struct maker *mk, const struct store_stack_check *s,
		       size_t n, struct err *err);
