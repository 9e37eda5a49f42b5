/* firefox.h - the tables that all threads of a profile for the Firefox
 * Profiler share: stacks, frames, functions, files, strings.
 *
 * The form is its "processed profile format", version 60: the first one in
 * which threads share these tables. Later versions of the program read it. */
#ifndef CLI_EXPORT_FIREFOX_FIREFOX_H
#define CLI_EXPORT_FIREFOX_FIREFOX_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct known_code;
struct code_places;
struct firefox;
struct label_list;
struct labels;

#define FIREFOX_VERSION 60
#define FIREFOX_GECKO_VERSION 31
#define FIREFOX_NONE UINT32_MAX

/* What code is of, as places in the list of categories. */
enum firefox_category {
	FIREFOX_OTHER, /* grey: what has no category is that */
	FIREFOX_USER,
	FIREFOX_KERNEL,
	FIREFOX_JIT,
	FIREFOX_MISSING, /* a frame stands for what is not there */
	FIREFOX_EXEC,	 /* of the program that came after the sample */
	FIREFOX_LOSS,
	FIREFOX_CATEGORIES
};

/* All are borrowed. */
struct firefox *firefox_new(const struct known_code *c,
			    struct code_places *places, struct labels *labels);
void firefox_free(struct firefox *f);
/* The place of a string in the list of strings. */
uint32_t firefox_string(struct firefox *f, const char *s);
/* The place of a stack with these frames in the table; want_from must have
 * been set. FIREFOX_NONE: it has none. */
uint32_t firefox_stack(struct firefox *f, const struct label_list *l);
/* Their JSON, with its name: "categories": [...] and so on. */
void firefox_put_categories(FILE *out);
void firefox_put_libs(const struct firefox *f, FILE *out);
void firefox_put_shared(const struct firefox *f, FILE *out);
#endif
