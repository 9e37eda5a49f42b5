/* mktext.h - what the programs that make captures of readable texts share:
 * lines of words, and the file that comes out. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/put_bytes.h"

#define MAX_WORDS 48
#define MAX_ADDRS 256

struct line {
	int number;
	int n;
	char *word[MAX_WORDS];
};

static inline void die(const struct line *l, const char *why, const char *what)
{
	fprintf(stderr, "line %d: %s '%s'\n", l ? l->number : 0, why, what);
	exit(1);
}

/* The value of key, or NULL. A word without '=' is a key with value "". */
static inline const char *mktext_find(const struct line *l, const char *key)
{
	size_t len = strlen(key);
	for (int i = 1; i < l->n; i++) {
		const char *w = l->word[i];
		if (strncmp(w, key, len))
			continue;
		if (!w[len])
			return "";
		if (w[len] == '=')
			return w + len + 1;
	}
	return NULL;
}

static inline const char *mktext_need(const struct line *l, const char *key)
{
	const char *v = mktext_find(l, key);
	if (!v)
		die(l, "needs", key);
	return v;
}

static inline uint64_t mktext_parse(const struct line *l, const char *s,
				    char **end)
{
	uint64_t v = strtoull(s, end, 0);
	if (*end == s)
		die(l, "not a number:", s);
	return v;
}

static inline uint64_t mktext_number(const struct line *l, const char *key,
				     uint64_t other)
{
	const char *s = mktext_find(l, key);
	char *end;
	return s && *s ? mktext_parse(l, s, &end) : other;
}

static inline void mktext_put32(struct pb *b, const struct line *l,
				const char *key, uint64_t other)
{
	pb_u32(b, (uint32_t)mktext_number(l, key, other));
}

static inline void mktext_put64(struct pb *b, const struct line *l,
				const char *key, uint64_t other)
{
	pb_u64(b, mktext_number(l, key, other));
}

static inline size_t mktext_addresses(const struct line *l, const char *key,
				      uint64_t *out)
{
	const char *s = mktext_find(l, key);
	size_t n = 0;
	while (s && *s) {
		char *end;
		if (n == MAX_ADDRS)
			die(l, "too many addresses in", key);
		out[n++] = mktext_parse(l, s, &end);
		s = *end == ',' ? end + 1 : end;
		if (*end && *end != ',')
			die(l, "not a list of addresses:", end);
	}
	return n;
}

/* One character after a backslash; gives the last byte read. */
static inline const char *escape(const struct line *l, const char *s, char *out)
{
	char two[3] = { 0 };
	switch (*s) {
	case 'n':
		*out = '\n';
		return s;
	case 'e':
		*out = 27;
		return s;
	case 'x':
		if (!s[1] || !s[2])
			die(l, "bad escape", s);
		two[0] = s[1];
		two[1] = s[2];
		*out = (char)strtoul(two, NULL, 16);
		return s + 2;
	case 0:
		die(l, "line ends in", "\\");
		return s;
	default:
		*out = *s;
		return s;
	}
}

/* Cuts text into words in place: quotes may stand anywhere in a word. */
static inline void mktext_split(struct line *l, char *text)
{
	char *out = text;
	const char *s = text;
	bool quoted = false;
	l->n = 0;
	for (;;) {
		while (*s == ' ' || *s == '\t')
			s++;
		if (!*s || *s == '\n' || *s == '#')
			return;
		if (l->n == MAX_WORDS)
			die(l, "too many words at", s);
		l->word[l->n++] = out;
		for (; *s && (quoted || !strchr(" \t\n#", *s)); s++) {
			if (*s == '"')
				quoted = !quoted;
			else if (quoted && *s == '\\')
				s = escape(l, s + 1, out++);
			else
				*out++ = *s;
		}
		if (quoted)
			die(l, "no closing quote in", l->word[l->n - 1]);
		bool last = !*s || *s == '\n' || *s == '#';
		if (!last)
			s++;
		*out++ = 0;
		if (last)
			return;
	}
}

/* Every line of the file, to add(). */
static inline void read_lines(const char *path,
			      void (*add)(const struct line *l))
{
	static char text[1 << 16];
	struct line l = { 0 };
	FILE *in = fopen(path, "r");

	if (!in)
		die(NULL, "cannot read", path);
	while (fgets(text, sizeof(text), in)) {
		l.number++;
		mktext_split(&l, text);
		if (l.n)
			add(&l);
	}
	fclose(in);
}

static inline void write_file(const char *path, const struct pb *out)
{
	FILE *to = fopen(path, "wb");

	if (!to || fwrite(out->d, 1, out->n, to) != out->n || fclose(to))
		die(NULL, "cannot write", path);
}
