/* name_find.c - finds the function that a user means by a part of its name. */
#include "analyze/names/name_find.h"

#include <stdbool.h>

#include "analyze/names/short_name.h"
#include "stitch/text/human.h"
#include "stitch/text/safe_text.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/text_out.h"

#define LISTED_CUT 60 /* bytes of a name in a message */

/* How well a name fits what the user wrote, from bad to good. */
enum name_fit {
	NAME_OTHER,
	NAME_PART_OF_FULL,
	NAME_PART,
	NAME_END, /* "push" is the end of "A::push" and "main.(*A).push", and
		   * the name in "JS:*push /srv/a.js:3:20" */
	NAME_SHORT,
	NAME_FULL
};

/* Returns whether text is all that follows a "::" or "." in the name. */
static bool name_ends(const char *name, const char *text)
{
	size_t n = strlen(name);
	size_t len = strlen(text);

	if (n <= len || strcmp(name + n - len, text))
		return false;
	return name[n - len - 1] == '.' ||
	       (n > len + 1 && !memcmp(name + n - len - 2, "::", 2));
}

/* Returns how well a choice fits. buf has room for its full name and a 0. */
static enum name_fit name_fit(const struct name_choice *c, const char *text,
			      char *buf)
{
	size_t base = short_name_base(c->full);
	size_t apart = strlen(c->full) - base;
	size_t len;

	if (!strcmp(c->full, text) || (c->raw && !strcmp(c->raw, text)) ||
	    (c->told && !strcmp(c->told, text)))
		return NAME_FULL;
	if (apart && strlen(text) == base && !strncmp(c->full, text, base))
		return NAME_FULL;
	short_name(c->full, 0, buf);
	/* users may not know that other functions have the name */
	buf[strlen(buf) - apart] = '\0';
	if (!strcmp(c->shown, text) || !strcmp(buf, text))
		return NAME_SHORT;
	/* What follows the @ of a stub is no version. */
	size_t n = strlen(text);

	if (!strncmp(c->full, text, n) && c->full[n] == '@' &&
	    strcmp(c->full + n, "@plt") != 0)
		return NAME_SHORT;
	if (name_ends(c->shown, text) || name_ends(buf, text))
		return NAME_END;
	const char *script = short_name_script(c->full, &len);
	if (script && strlen(text) == len && !strncmp(script, text, len))
		return NAME_END;
	if (strstr(c->shown, text) || strstr(buf, text))
		return NAME_PART;
	return strstr(c->full, text) ? NAME_PART_OF_FULL : NAME_OTHER;
}

/* Returns the heaviest choice of a fit; n if there is none. */
static size_t name_heaviest(const struct name_choice *c, size_t n,
			    const unsigned char *fit, enum name_fit want)
{
	size_t best = n;

	for (size_t i = 0; i < n; i++)
		if (fit[i] == want &&
		    (best == n || c[i].weight > c[best].weight))
			best = i;
	return best;
}

/* Drops choice i and all with the same full name. Returns how many choices of
 * this fit are left. */
static size_t name_drop(const struct name_choice *c, size_t n,
			unsigned char *fit, enum name_fit want, size_t i)
{
	size_t left = 0;

	for (size_t k = 0; k < n; k++) {
		if (fit[k] != want)
			continue;
		if (!strcmp(c[k].full, c[i].full))
			fit[k] = NAME_OTHER;
		else
			left++;
	}
	return left;
}

static bool name_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || (unsigned char)c >= 128;
}

/* Returns whether text is in the name, not inside of a longer word: "main" is
 * in "dl_main", not in "domains". */
static bool name_has_word(const char *name, const char *text)
{
	size_t len = strlen(text);

	for (const char *p = name; (p = strstr(p, text)); p++)
		if ((p == name || !name_is_letter(p[-1])) &&
		    !name_is_letter(p[len]))
			return true;
	return false;
}

/* Drops choices that have text inside of a word of their name, if others have
 * it as a word. Returns whether that leaves one function. */
static bool name_keep_words(const struct name_choice *c, size_t n,
			    const char *text, unsigned char *fit)
{
	size_t first = n;
	bool one = true;

	for (size_t i = 0; i < n; i++) {
		if (fit[i] != NAME_PART || !name_has_word(c[i].shown, text))
			continue;
		first = first < n ? first : i;
		one = one && !strcmp(c[i].full, c[first].full);
	}
	for (size_t i = 0; first < n && i < n; i++)
		if (fit[i] == NAME_PART && !name_has_word(c[i].shown, text))
			fit[i] = NAME_OTHER;
	return first < n && one;
}

/* Sets *err, which lists the heaviest functions of a fit. Returns -1. */
static int name_which(const struct name_choice *c, size_t n, const char *text,
		      uint64_t whole, unsigned char *fit, enum name_fit want,
		      struct err *err)
{
	char list[NAME_LISTED * (LISTED_CUT + 24)] = "";
	struct text_out o = { .buf = list, .size = sizeof(list) };
	bool one = want == NAME_PART && name_keep_words(c, n, text, fit);
	size_t left = 1;

	for (size_t i = 0; i < NAME_LISTED && left; i++) {
		size_t at = name_heaviest(c, n, fit, want);
		char name[LISTED_CUT];

		safe_text_clean_buf(name, sizeof(name), c[at].shown,
				    strlen(c[at].shown), NULL);
		text_out_add(&o, "%s'%s' %s", o.len ? ", " : "", name,
			     HUMAN_PERCENT(c[at].weight, whole));
		left = name_drop(c, n, fit, want, at);
	}
	if (one)
		return err_set(err, ERR_USAGE,
			       "no function is called '%.80s'; %s has it in "
			       "its name",
			       text, list);
	return err_set(err, ERR_USAGE, "'%.80s' may be several functions: %s%s",
		       text, list, left ? ", ..." : "");
}

/* Stores how well each choice fits. Returns the best fit. */
static enum name_fit name_fit_all(const struct name_choice *c, size_t n,
				  const char *text, unsigned char *fit)
{
	enum name_fit best = NAME_OTHER;
	size_t longest = 0;

	for (size_t i = 0; i < n; i++)
		if (strlen(c[i].full) > longest)
			longest = strlen(c[i].full);

	char *buf = mem_new(longest + 1, 1);

	for (size_t i = 0; *text && i < n; i++) {
		fit[i] = (unsigned char)name_fit(&c[i], text, buf);
		raise_to(best, fit[i]);
	}
	free(buf);
	return best;
}

int name_find(const struct name_choice *c, size_t n, const char *text,
	      uint64_t whole, size_t *at, struct err *err)
{
	unsigned char *fit = mem_new(n + 1, 1);
	unsigned char *left = mem_new(n + 1, 1);
	enum name_fit best = name_fit_all(c, n, text, fit);
	int rc = 0;

	if (best != NAME_OTHER) {
		*at = name_heaviest(c, n, fit, best);
		memcpy(left, fit, n);
		rc = name_drop(c, n, left, best, *at)
			     ? name_which(c, n, text, whole, fit, best, err)
			     : 1;
	}
	free_all(left, fit);
	return rc;
}

size_t name_find_several(const struct name_choice *c, size_t n,
			 const char *text, size_t *at, size_t *more)
{
	unsigned char *fit = mem_new(n + 1, 1);
	enum name_fit best = name_fit_all(c, n, text, fit);
	size_t k = 0;

	if (best == NAME_PART)
		name_keep_words(c, n, text, fit);
	*more = best != NAME_OTHER;
	for (; *more && k < NAME_LISTED; k++) {
		at[k] = name_heaviest(c, n, fit, best);
		*more = name_drop(c, n, fit, best, at[k]);
	}
	free(fit);
	return k;
}
