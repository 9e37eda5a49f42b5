/* defer.c - deferred user stacks in texts of ftrace: cookies, the stacks that
 * follow later, the files that they name, and lines that processes which unwind
 * themselves write to trace_marker. The texts: backstitch-formats(5), "Deferred
 * stacks: ftrace". */
#include <string.h>

#include "formats/ftext/ftext.h"
#include "formats/reader/nonce.h"

/* Finds "cookie=7000000000009" in the text. */
static bool ftext_defer_take_cookie(struct scan s, uint64_t *cookie)
{
	size_t at = scan_find(s, "cookie=");

	s = scan_tail(s, at + strlen("cookie="));
	return s.n && scan_hex(&s, cookie);
}

bool ftext_defer_cookie(struct scan text, struct ftext_item *it)
{
	if (it->has_cookie || !ftext_defer_take_cookie(text, &it->cookie))
		return false;
	it->has_cookie = true;
	return true;
}

/* Returns the text without the name of a function that trace-cmd puts before
 * it. */
static struct scan ftext_marker_text(const struct ftext *ft,
				     const struct ftext_item *it)
{
	struct scan s = ftext_part_of(ft, it, &it->text);
	struct scan t = s;
	struct nonce_line l;
	size_t n = 0;
	size_t at = 0;

	while (n < t.n && scan_is_word(t.p[n]))
		n++;
	scan_skip(&t, n);
	if (nonce_next(ft->nonce_format, s, &at, &l) || !n ||
	    !scan_take(&t, ": "))
		return s;
	return t;
}

void ftext_defer_refs(struct ftext *ft, uint64_t id)
{
	struct ftext_item *it = ftext_item_at(ft, id);
	enum event_role role = ft->event[it->event].role;

	if (it->stack == STACK_UNWIND) {
		ftext_add_ref(ft, id, REF_CHAIN);
		return;
	}
	if (role == ROLE_COOKIE)
		ftext_defer_cookie(ftext_part_of(ft, it, &it->text), it);
	if (it->has_cookie)
		ft->def[it->event].defer = true;
	ftext_add_ref(ft, id, REF_SAMPLE);
	if (role == ROLE_INODE) {
		/* The text is "inode=1340007 dev=[254:3]
		 * path=/usr/lib/libc.so.6". */
		struct scan s = ftext_part_of(ft, it, &it->text);
		struct place file = { .off = 0 };
		uint64_t maj, min;

		if (scan_take(&s, "inode=") && scan_u64(&s, &file.ino) &&
		    scan_take(&s, " dev=[") && scan_u64(&s, &maj) &&
		    scan_take(&s, ":") && scan_u64(&s, &min) &&
		    scan_take(&s, "] path=") && maj <= UINT32_MAX &&
		    min <= UINT32_MAX) {
			file.maj = (uint32_t)maj;
			file.min = (uint32_t)min;
			user_stack_reader_note_file(&ft->stack, &file, s);
		}
	}
	if (role != ROLE_MARKER)
		return;
	/* add a ref for each stack in a marker's text, with the offset of its
	 * line */
	struct scan text = ftext_marker_text(ft, it);
	struct nonce_line l;

	for (size_t at = 0, from = 0;
	     nonce_next(ft->nonce_format, text, &at, &l); from = at) {
		if (l.kind == NONCE_REQUEST)
			ft->def[it->event].defer = true;
		else
			ftext_add_ref(ft, id,
				      REF_CHAIN | (uint32_t)from << REF_BITS);
	}
}

void ftext_defer_request(struct ftext *ft, const struct ftext_item *it,
			 struct record *rec)
{
	struct rec_sample *s = &rec->sample;

	if (it->has_cookie) {
		s->cookie = it->cookie;
		s->defer = it->cookie ? DEFER_COOKIE : DEFER_REFUSED;
	} else if (ft->event[it->event].role == ROLE_MARKER) {
		nonce_request(ft->nonce_format, ftext_marker_text(ft, it), rec);
	}
}

static void ftext_defer_add_frames(struct ftext *ft,
				   const struct ftext_item *it,
				   struct record *rec)
{
	struct scan s = ftext_part_of(ft, it, &it->user);
	struct line_frame f;

	ftext_defer_take_cookie(ftext_part_of(ft, it, &it->text),
				&rec->chain.cookie);
	while (s.n) {
		struct scan line = scan_line(&s);

		if (!line.n)
			continue;
		if (!line_frame(line, false, &f)) {
			reader_damage_text(&ft->src, ft->in.path, "frame",
					   it->off, line.n,
					   "a frame of unknown form");
			continue;
		}
		const struct place file = { .ino = f.ino,
					    .maj = f.maj,
					    .min = f.min };

		if (f.has_ino)
			user_stack_reader_add_file(&ft->stack, f.addr, &file);
		else
			user_stack_reader_add(&ft->stack, f.addr, NULL);
	}
}

void ftext_defer_chain(struct ftext *ft, const struct ftext_item *it,
		       uint32_t from, struct record *rec)
{
	user_stack_reader_start(&ft->stack);
	rec->kind = REC_CHAIN;
	rec->chain = (struct rec_chain){ .cookie = 0 };
	if (it->stack == STACK_UNWIND)
		ftext_defer_add_frames(ft, it, rec);
	else
		nonce_stack(ft->nonce_format, ftext_marker_text(ft, it), from,
			    &ft->stack, rec);
	rec->chain.user = user_stack_reader_addrs(&ft->stack);
}
