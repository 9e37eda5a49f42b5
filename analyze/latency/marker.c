/* marker.c - parses what programs write to trace_marker to mark slices. */
#include "analyze/latency/marker.h"

#include <string.h>

/* Takes the part up to the first '|', or all of it. */
static struct marker_part marker_take(struct marker_part *s)
{
	const char *bar = memchr(s->p, '|', s->n);
	struct marker_part out = { s->p, bar ? (size_t)(bar - s->p) : s->n };
	size_t gone = out.n + (bar != NULL);

	s->p += gone;
	s->n -= gone;
	return out;
}

/* Takes the part after the last '|'. Returns false if there is none. */
static bool marker_take_last(struct marker_part *s, struct marker_part *out)
{
	size_t n = s->n;

	while (n && s->p[n - 1] != '|')
		n--;
	*out = (struct marker_part){ s->p + n, s->n - n };
	if (!n)
		return false;
	s->n = n - 1;
	return true;
}

static bool marker_is_number(struct marker_part s)
{
	size_t n = s.n && s.p[0] == '-';

	while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
		n++;
	return n == s.n && s.n && s.p[n - 1] != '-';
}

/* Removes what some writers have after all that atrace has: Chromium
 * "|KEY=VALUE;KEY=VALUE|CATEGORY", OpenHarmony a level and a tag, "|M62". */
static void marker_cut(struct marker_part *s)
{
	struct marker_part rest = *s, last, args;

	if (!marker_take_last(&rest, &last) || !rest.n)
		return;
	if (!strncmp(rest.p, "H:", 2) && last.n == 3 &&
	    memchr("DICM", last.p[0], 4) &&
	    marker_is_number((struct marker_part){ last.p + 1, 2 })) {
		*s = rest;
		return;
	}
	if (!last.n || !marker_take_last(&rest, &args) || !rest.n)
		return;
	for (size_t n; args.n; args.p += n, args.n -= n) {
		const char *end = memchr(args.p, ';', args.n);

		n = end ? (size_t)(end - args.p) + 1 : args.n;
		if (!memchr(args.p, '=', n))
			return;
	}
	*s = rest;
}

/* Takes a cookie or the value of a counter, which may have a category after
 * it; OpenHarmony has it after a blank. */
static bool marker_take_cookie(struct marker_part *s, struct marker_part *out,
			       bool counts)
{
	struct marker_part rest = *s, before;

	if (marker_take_last(s, out)) {
		rest = *s;
		if (counts && !marker_is_number(*out) &&
		    marker_take_last(&rest, &before) &&
		    marker_is_number(before)) {
			*s = rest;
			*out = before;
		}
		return true;
	}
	while (s->n && s->p[s->n - 1] != ' ')
		s->n--;
	*out = (struct marker_part){ s->p + s->n, rest.n - s->n };
	if (!s->n || strncmp(s->p, "H:", 2) != 0 || !marker_is_number(*out))
		return false;
	s->n--;
	return true;
}

bool marker_parse(const char *text, struct marker *out)
{
	struct marker_part s = { text, strlen(text) };
	struct marker_part pid;

	*out = (struct marker){ .letter = text[0] };
	while (s.n && strchr("\n\r ", s.p[s.n - 1]))
		s.n--;
	if (!s.n || !strchr("BESFGHCIN", text[0]) ||
	    (s.n > 1 && text[1] != '|'))
		return false;
	if (s.n == 1)
		return text[0] == 'E';
	s.p += 2;
	s.n -= 2;
	pid = marker_take(&s);
	for (size_t i = 0; i < pid.n && i < 10; i++) {
		/* some writers have the name there, which an end needs not */
		if (pid.p[i] < '0' || pid.p[i] > '9')
			return text[0] == 'E';
		out->pid = out->pid * 10 + (pid.p[i] - '0');
	}
	if (strchr("BSF", text[0]))
		marker_cut(&s);
	if (strchr("SFGHC", text[0]) &&
	    !marker_take_cookie(&s, &out->cookie, text[0] == 'C'))
		return false;
	if (text[0] == 'G' || text[0] == 'N')
		out->track = marker_take(&s);
	else if (text[0] == 'H')
		out->track = s;
	if (text[0] != 'E' && text[0] != 'H')
		out->name = s;
	return text[0] == 'E' || s.n;
}
