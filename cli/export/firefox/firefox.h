/* firefox.h - the tables that all threads of a profile for the Firefox
 * Profiler share: stacks, frames, functions, files, strings.
 *
 * The format is the "processed profile format", version 60, the first in which
 * threads share these tables. Later versions of the profiler read it. */
#pragma once
#include <stdint.h>

struct known_code;
struct code_places;
struct firefox;
struct json;
struct label_list;
struct labels;

#define FIREFOX_VERSION 60
#define FIREFOX_GECKO_VERSION 31
#define FIREFOX_NONE UINT32_MAX

/* Indexes in the list of categories. */
enum firefox_category {
	FIREFOX_OTHER, /* the profiler shows frames without one in grey */
	FIREFOX_USER,
	FIREFOX_KERNEL,
	FIREFOX_JIT,
	FIREFOX_MISSING, /* stands for missing frames */
	FIREFOX_EXEC,	 /* of a program that was executed after the sample */
	FIREFOX_LOSS,
	FIREFOX_CATEGORIES
};

/* Borrows all arguments; firefox_free() frees the result. */
struct firefox *firefox_new(const struct known_code *c,
			    struct code_places *places, struct labels *labels);
void firefox_free(struct firefox *f);
/* Returns the index of a string in the list of strings. */
uint32_t firefox_string(struct firefox *f, const char *s);
/* Returns the index of the stack with these frames, FIREFOX_NONE if there are
 * none. The list needs want_from. */
uint32_t firefox_stack(struct firefox *f, const struct label_list *l);
/* Write a duration, and a time since the beginning of the profile, in ms. */
void firefox_put_ms(struct json *j, const char *key, uint64_t ns);
void firefox_put_time(struct json *j, const char *key, int64_t begin,
		      int64_t time);
/* Write the members "categories", "libs" and "shared". */
void firefox_put_categories(struct json *j);
void firefox_put_libs(const struct firefox *f, struct json *j);
void firefox_put_shared(const struct firefox *f, struct json *j);
