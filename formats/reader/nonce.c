/* nonce.c - parses the lines in which a process that unwinds itself logs its
 * requests and stacks. */
#include "formats/reader/nonce.h"

#include "stitch/base/err.h"

#define WHO "[ tid=%{tid}][ pid=%{pid}]"
#define STACK "ustack nonce=%{nonce}" WHO "[ part=%{part}][ meet=%{meet}]"

const char *const nonce_default[] = {
	"ureq nonce=%{nonce}" WHO,
	STACK " ips=%{ips}",
	STACK " names=%{names}",
	NULL,
};

enum nonce_item {
	ITEM_END,
	ITEM_CHAR,
	ITEM_BLANK,
	ITEM_OPEN,
	ITEM_CLOSE,
	ITEM_NONCE,
	ITEM_NONCE_HEX,
	ITEM_TID,
	ITEM_PID,
	ITEM_IPS,
	ITEM_NAMES,
	ITEM_PART,
	ITEM_MEET,
	ITEM_ANY,
	ITEM_WRONG,
};

static const struct {
	const char *name;
	enum nonce_item kind;
} fields[] = {
	{ "nonce", ITEM_NONCE }, { "nonce:x", ITEM_NONCE_HEX },
	{ "tid", ITEM_TID },	 { "pid", ITEM_PID },
	{ "ips", ITEM_IPS },	 { "names", ITEM_NAMES },
	{ "part", ITEM_PART },	 { "meet", ITEM_MEET },
	{ "*", ITEM_ANY },
};

/* Takes one item from the template and returns its kind. Sets *c to the
 * character of an ITEM_CHAR. */
static enum nonce_item nonce_take_item(struct scan *t, char *c)
{
	if (!t->n)
		return ITEM_END;
	if (scan_take(t, "%{")) {
		/* A field of the template: *t is after "%{", and moves past the
		 * '}'. */
		size_t n = scan_find_char(*t, '}');
		struct scan name = scan_head(*t, n);

		if (n == t->n)
			return ITEM_WRONG;
		scan_skip(t, n + 1);
		for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
			if (scan_is(name, fields[i].name))
				return fields[i].kind;
		return ITEM_WRONG;
	}
	if (scan_blanks(t))
		return ITEM_BLANK;
	bool escaped = scan_take(t, "%");

	if (!t->n || (escaped && !memchr("%[]", t->p[0], 3)))
		return ITEM_WRONG;
	*c = t->p[0];
	scan_skip(t, 1);
	if (escaped || (*c != '[' && *c != ']'))
		return ITEM_CHAR;
	return *c == '[' ? ITEM_OPEN : ITEM_CLOSE;
}

static bool nonce_is_list(enum nonce_item k)
{
	return k == ITEM_IPS || k == ITEM_NAMES;
}

static bool nonce_is_nonce(enum nonce_item k)
{
	return k == ITEM_NONCE || k == ITEM_NONCE_HEX;
}

int nonce_check(const char *form, struct err *err)
{
	struct scan t = scan_of(form, strlen(form));
	bool open = false;
	bool nonce = false;
	bool stack = false;
	bool wrong = scan_blanks(&t);
	enum nonce_item kind;
	char c;

	while (!wrong && (kind = nonce_take_item(&t, &c)) != ITEM_END) {
		bool nested = kind == ITEM_OPEN ? open : !open;

		wrong = kind == ITEM_WRONG ||
			((kind == ITEM_OPEN || kind == ITEM_CLOSE) && nested) ||
			(open &&
			 (nonce_is_nonce(kind) || nonce_is_list(kind))) ||
			(nonce_is_nonce(kind) && nonce) ||
			(nonce_is_list(kind) && stack);
		if (wrong)
			break;
		if (kind == ITEM_OPEN || kind == ITEM_CLOSE)
			open = kind == ITEM_OPEN;
		nonce |= nonce_is_nonce(kind);
		stack |= nonce_is_list(kind);
	}
	if (wrong || open)
		return err_set(
			err, ERR_USAGE,
			"nonce format '%.200s': not understood at "
			"character %zu; fields are %%{nonce} "
			"%%{nonce:x} %%{tid} %%{pid} %%{ips} "
			"%%{names} %%{part} %%{meet} %%{*}, and [...] is what may "
			"be missing",
			form, (size_t)(t.p - form));
	if (!nonce)
		return err_set(err, ERR_USAGE,
			       "nonce format '%.200s': needs %%{nonce}", form);
	return 0;
}

static bool nonce_is_separator(char c)
{
	return c == ',' || scan_is_blank(c);
}

/* Takes one address and the separators after it. */
static bool nonce_take_ip(struct scan *s, uint64_t *ip)
{
	struct scan t = *s;

	if (!scan_hex(&t, ip) || (t.n && !nonce_is_separator(t.p[0])))
		return false;
	while (t.n && nonce_is_separator(t.p[0]))
		scan_skip(&t, 1);
	*s = t;
	return true;
}

/* Takes what "%{*}" matches: up to the next character of the template t, or to
 * the end of the line. */
static struct scan nonce_take_any(struct scan *s, struct scan t)
{
	enum nonce_item kind;
	char c = '\0';
	size_t n = 0;

	do
		kind = nonce_take_item(&t, &c);
	while (kind == ITEM_OPEN || kind == ITEM_CLOSE);
	if (kind == ITEM_CHAR)
		n = scan_find_char(*s, c);
	else if (kind == ITEM_BLANK)
		while (n < s->n && !scan_is_blank(s->p[n]))
			n++;
	else
		n = s->n;
	struct scan any = scan_head(*s, n);

	scan_skip(s, n);
	return any;
}

/* Matches one item that is a field. t is the template after the item. */
static bool nonce_take_value(enum nonce_item kind, struct scan t,
			     struct scan *s, struct nonce_line *out)
{
	switch (kind) {
	case ITEM_NONCE:
		return scan_starts(*s, "0x") ? scan_hex(s, &out->nonce)
					     : scan_u64(s, &out->nonce);
	case ITEM_NONCE_HEX:
		return scan_hex(s, &out->nonce);
	case ITEM_TID:
		return scan_i32(s, &out->tid);
	case ITEM_PID:
		return scan_i32(s, &out->pid);
	case ITEM_PART: {
		uint64_t part;
		uint64_t parts;

		if (!scan_u64(s, &part) || !scan_take(s, "/") ||
		    !scan_u64(s, &parts) || !part || part > parts ||
		    parts > UINT16_MAX)
			return false;
		out->part = (uint16_t)part;
		out->parts = (uint16_t)parts;
		return true;
	}
	case ITEM_MEET:
		return scan_hex(s, &out->meet);
	case ITEM_IPS:
		out->kind = NONCE_STACK;
		const char *from = s->p;
		uint64_t ip;

		while (nonce_take_ip(s, &ip))
			;
		out->ips = scan_of(from, (size_t)(s->p - from));
		/* The template may have a blank next, so keep those at the end.
		 */
		while (s->p > from && scan_is_blank(s->p[-1])) {
			s->p--;
			s->n++;
		}
		return true;
	case ITEM_NAMES:
		out->kind = NONCE_STACK;
		out->names = nonce_take_any(s, t);
		return true;
	case ITEM_ANY:
		nonce_take_any(s, t);
		return true;
	default:
		return false;
	}
}

static void nonce_skip_group(struct scan *t)
{
	char c;
	enum nonce_item kind;

	do
		kind = nonce_take_item(t, &c);
	while (kind != ITEM_CLOSE && kind != ITEM_END);
}

/* Matches s with a whole template and fills *out. Optional groups are tried
 * first with, then without their content. */
static bool nonce_matches(const char *form, struct scan s,
			  struct nonce_line *out)
{
	struct scan t = scan_of(form, strlen(form));
	struct scan behind = {
		NULL, 0
	}; /* the template after the optional group that is being tried */
	struct scan again = s;
	struct nonce_line saved = *out;
	const char *start = s.p;
	enum nonce_item kind;
	char c = '\0';

	while ((kind = nonce_take_item(&t, &c)) != ITEM_END) {
		bool ok;

		if (kind == ITEM_OPEN) {
			behind = t;
			nonce_skip_group(&behind);
			again = s;
			saved = *out;
			continue;
		}
		if (kind == ITEM_CLOSE) {
			behind.p = NULL;
			continue;
		}
		if (kind == ITEM_CHAR) {
			ok = s.n && s.p[0] == c;
			scan_skip(&s, ok);
		} else {
			ok = kind == ITEM_BLANK
				     ? scan_blanks(&s)
				     : nonce_take_value(kind, t, &s, out);
		}
		if (ok)
			continue;
		if (!behind.p)
			return false;
		t = behind;
		behind.p = NULL;
		s = again;
		*out = saved;
	}
	char before = s.p > start ? s.p[-1] : ' ';
	return !s.n || !scan_is_word(s.p[0]) || !scan_is_word(before);
}

bool nonce_parse(const char *const *templates, struct scan s,
		 struct nonce_line *out)
{
	while (s.n && memchr("\n\r", s.p[s.n - 1], 2))
		s.n--;
	for (; *templates; templates++) {
		*out = (struct nonce_line){ .kind = NONCE_REQUEST,
					    .tid = -1,
					    .pid = -1 };
		if (nonce_matches(*templates, s, out))
			return true;
	}
	*out = (struct nonce_line){ .kind = NONCE_NONE, .tid = -1, .pid = -1 };
	return false;
}

bool nonce_next(const char *const *templates, struct scan text, size_t *at,
		struct nonce_line *out)
{
	while (*at < text.n) {
		struct scan s = scan_tail(text, *at);
		size_t n = scan_find_char(s, '\n');

		*at += n < s.n ? n + 1 : n;
		if (nonce_parse(templates, scan_head(s, n), out))
			return true;
	}
	return false;
}

void nonce_chain(const struct nonce_line *l, struct user_stack_reader *frames,
		 struct rec_chain *out)
{
	*out = (struct rec_chain){
		.cookie = l->nonce,
		.part = l->part,
		.parts = l->parts,
		.meet = l->meet,
	};
	struct scan s = l->ips;
	uint64_t ip;

	while (nonce_take_ip(&s, &ip))
		user_stack_reader_add(frames, ip, NULL);
	for (s = l->names; s.n;) {
		size_t n = scan_find_char(s, ';');
		struct scan name = scan_head(s, n);

		scan_skip(&s, n + 1);
		scan_blanks(&name);
		scan_trim(&name);
		if (!name.n)
			continue;
		const struct place p = {
			.symbol = arena_strndup(&frames->text, name.p, name.n),
		};

		user_stack_reader_add(frames, 0, &p);
	}
}

void nonce_request(const char *const *templates, struct scan text,
		   struct record *rec)
{
	struct nonce_line l;

	for (size_t at = 0; nonce_next(templates, text, &at, &l);) {
		if (l.kind != NONCE_REQUEST)
			continue;
		rec->flags |= REC_F_NONCE;
		rec->sample.defer = DEFER_COOKIE;
		rec->sample.cookie = l.nonce;
		rec->sample.asked = l.tid;
		if (rec->pid < 0 && (l.tid < 0 || l.tid == rec->tid))
			rec->pid = l.pid;
		return;
	}
}

void nonce_stack(const char *const *templates, struct scan text, size_t from,
		 struct user_stack_reader *frames, struct record *rec)
{
	struct nonce_line l;

	rec->flags |= REC_F_NONCE;
	if (!nonce_next(templates, text, &from, &l))
		return;
	nonce_chain(&l, frames, &rec->chain);
	if (l.tid >= 0 && l.tid != rec->tid) {
		rec->tid = l.tid;
		rec->pid = -1;
	}
	/* The kernel's process id, if known, is more reliable than the line's.
	 */
	if (rec->pid < 0)
		rec->pid = l.pid;
}

/* The width of the minor number in the kernel's dev_t (MINORBITS). */
#define MINOR_BITS 20
/* The inode number -1 of a deferred stack: the frame is outside of any
 * mapping. */
#define NO_VMA UINT64_MAX

void user_stack_reader_release(struct user_stack_reader *u)
{
	free_all(u->ip, u->place, u->at, u->file);
	table_release(&u->by_inode);
	arena_release(&u->text);
	arena_release(&u->paths);
}

void user_stack_reader_start(struct user_stack_reader *u)
{
	u->n = 0;
	u->has_places = false;
	if (u->text.used)
		arena_release(&u->text);
}

void user_stack_reader_add(struct user_stack_reader *u, uint64_t ip,
			   const struct place *place)
{
	const struct place none = { .off = 0 };

	mem_grow(u->ip, u->cap_ip, u->n + 1);
	mem_grow(u->place, u->cap_place, u->n + 1);
	u->ip[u->n] = ip;
	u->place[u->n++] = place ? *place : none;
	u->has_places |= place != NULL;
}

struct addrs user_stack_reader_addrs(struct user_stack_reader *u)
{
	struct addrs a = { .ip = u->ip, .n = (uint32_t)u->n };

	if (!u->has_places)
		return a;
	mem_grow(u->at, u->cap_at, u->n);
	for (size_t i = 0; i < u->n; i++) {
		const struct place *p = &u->place[i];

		u->at[i] = p->path || p->symbol || p->in_file ? p : NULL;
	}
	a.place = u->at;
	return a;
}

void user_stack_reader_set_device(uint32_t dev, struct place *out)
{
	out->maj = dev >> MINOR_BITS;
	out->min = dev & ((1u << MINOR_BITS) - 1);
}

SAME_BY(user_stack_reader_same_file, struct user_stack_reader, file[id],
	struct place, ino, maj, min);

static uint64_t user_stack_reader_hash(const struct place *file)
{
	return hash_pair(file->ino, (uint64_t)file->maj << 32 | file->min);
}

static uint32_t user_stack_reader_find_file(const struct user_stack_reader *u,
					    const struct place *file)
{
	return table_find(&u->by_inode, user_stack_reader_hash(file),
			  user_stack_reader_same_file, u, file);
}

void user_stack_reader_note_file(struct user_stack_reader *u,
				 const struct place *file, struct scan path)
{
	uint32_t id = user_stack_reader_find_file(u, file);

	if (!path.n || !file->ino ||
	    (id != TABLE_NONE && scan_is(path, u->file[id].path)))
		return;
	if (id == TABLE_NONE) {
		mem_grow(u->file, u->cap_file, u->n_file + 1);
		id = (uint32_t)u->n_file++;
		table_add(&u->by_inode, user_stack_reader_hash(file), id);
	}
	u->file[id] = *file;
	u->file[id].path = arena_strndup(&u->paths, path.p, path.n);
}

void user_stack_reader_add_file(struct user_stack_reader *u, uint64_t value,
				const struct place *file)
{
	struct place p = *file;

	if (file->ino == NO_VMA) {
		user_stack_reader_add(u, value, NULL);
		return;
	}
	uint32_t id = user_stack_reader_find_file(u, file);

	p.in_file = true;
	p.off = value;
	if (id != TABLE_NONE)
		p.path = u->file[id].path;
	user_stack_reader_add(u, 0, &p);
}
