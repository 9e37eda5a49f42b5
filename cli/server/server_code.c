/* server_code.c - the stacks that the groups need, and the names of their
 * frames.
 *
 * A stack becomes a path in the tree of stacks, frame by frame from the
 * outermost; equal images and frames are one. Rows are written when the names
 * are known. */

#include "analyze/fleet/fleet_schema.h"
#include "cli/server/server_ask.h"
#include "schema/write/served.h"
#include "stitch/audit/callsite.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/image_status.h"
#include "stitch/tasks/frame.h"

#define FRAMES_MAX 8192

/* These are keys of interned data, so they have no padding. */
struct server_frame_key {
	uint64_t off, vaddr, place;
	uint32_t image;
	uint16_t flags;
	uint16_t bogus; /* enum fleet_frame */
};

struct server_node {
	uint32_t parent, frame; /* ids */
};

/* The function at a place. */
struct server_name {
	bool named, unverified;
	uint32_t symbol, file; /* in texts */
	uint32_t line;
	uint32_t levels;
	uint32_t inlined, n_inlined; /* in inlined[], level 1 first */
	uint64_t start;
};

struct server_inlined {
	uint32_t name, file, line;
};

struct server_codes {
	struct server *s;
	struct intern images;	  /* kind, build-id, path; image.id - 1 */
	bool *named, *unverified; /* by image.id - 1 */
	struct intern frames;	  /* struct server_frame_key; frame.id - 1 */
	struct intern nodes;	  /* struct server_node; stack.id - 1 */
	struct table places;	  /* to the index in place[] */
	uint64_t *place;
	size_t n_place, cap_place;
	struct server_name *name; /* by index in place[] */
	struct server_inlined *inlined;
	size_t n_inlined, cap_inlined;
	struct intern texts;   /* 0: "" */
	struct intern symbols; /* symbol.id - 1 */
	/* stack.id by twice the index of the hash, + 1: with bogus frames; 0:
	 * not fetched yet */
	uint32_t *leaf;
	bool *wanted; /* by the same index: the groups have it */
	struct server_bogus {
		uint32_t stack, n, first;
	} * bogus;
	size_t n_bogus, cap_bogus;
};

enum {
	STACK_HASH,
	STACK_BUILD_ID,
	STACK_PATH,
	STACK_KIND,
	STACK_OFFSET,
	STACK_VADDR,
	STACK_FLAGS,
	STACK_PLACE,
	STACK_BOGUS
};
#define STACK_COLUMNS                                                          \
	"stack, build_id, path, kind, offset, vaddr, flags, place, bogus"
#define STACK_TYPES                                                            \
	"hash [string] [string] [string] [u64] [u64] [u16] [u64] [u8]"

/* Returns the image.id of a frame, or 0 and *err. */
static uint32_t server_image(struct server_codes *c,
			     const struct rowbinary_value *build_id,
			     const struct rowbinary_value *path,
			     const struct rowbinary_value *kind,
			     struct err *err)
{
	size_t len = 2 * sizeof(uint32_t);
	uint32_t word[2] = { 0, (uint32_t)build_id->len };
	const char *name;
	uint32_t id;

	while ((name = image_kind_name(word[0])) && !server_is(kind, name))
		word[0]++;
	if (!name) {
		server_bad("a frame is in a kind of file that is not "
			   "known",
			   err);
		return 0;
	}
	if (build_id->len > 40 || build_id->len % 2 ||
	    memchr(path->text, 0, path->len)) {
		server_bad("a frame has a build-id or path that cannot "
			   "be",
			   err);
		return 0;
	}
	char *key OWNED = mem_new(len + build_id->len + path->len + 1, 1);
	memcpy(key, word, len);
	memcpy(key + len, build_id->text, build_id->len);
	memcpy(key + len + build_id->len, path->text, path->len);
	id = intern_add_bytes(&c->images, key, len + build_id->len + path->len);
	return id + 1;
}

/* Returns the index of a place in place[]. */
static uint32_t server_place(struct server_codes *c, uint64_t place)
{
	uint32_t i = table_find_or_add(&c->places, hash_u64(place), c->n_place);

	if (i == c->n_place)
		*mem_add(c->place, c->n_place, c->cap_place) = place;
	return i;
}

static int server_check_stack(const struct rowbinary_value *v, struct err *err)
{
	size_t n = v[STACK_OFFSET].n;

	for (size_t i = STACK_BUILD_ID; i <= STACK_BOGUS; i++)
		if (v[i].n != n && (i != STACK_BOGUS || v[i].n))
			return server_bad("the lists of a stack differ "
					  "in length",
					  err);
	return n < 1 || n > FRAMES_MAX
		       ? server_bad("a stack has no frames, or too many", err)
		       : 0;
}

/* Adds a stack, outermost frame first; *leaf: stack.id of the innermost. */
static int server_add_stack(struct server_codes *c,
			    const struct rowbinary_value *v, bool bogus,
			    uint32_t *leaf, struct err *err)
{
	const struct rowbinary_value *marks = &v[STACK_BOGUS];
	uint32_t at = 0;

	for (size_t i = v[STACK_OFFSET].n; i-- > 0;) {
		struct server_frame_key key = {
			.off = v[STACK_OFFSET].item[i].u,
			.vaddr = v[STACK_VADDR].item[i].u,
			.place = v[STACK_PLACE].item[i].u,
			.flags = (uint16_t)v[STACK_FLAGS].item[i].u,
			.bogus = bogus && i < marks->n
					 ? (uint16_t)marks->item[i].u
					 : FLEET_FRAME_SOUND,
		};
		struct server_node node = { .parent = at };

		key.image = server_image(c, &v[STACK_BUILD_ID].item[i],
					 &v[STACK_PATH].item[i],
					 &v[STACK_KIND].item[i], err);
		if (!key.image)
			return -1;
		server_place(c, key.place);
		node.frame =
			intern_add_bytes(&c->frames, &key, sizeof(key)) + 1;
		at = intern_add_bytes(&c->nodes, &node, sizeof(node)) + 1;
		if (at >= SERVER_ITEMS_MAX)
			return server_bad("too many stacks", err);
	}
	*leaf = at;
	return 0;
}

/* Takes a row of table stack. */
static int server_take_stack(void *arg, const struct rowbinary_value *v,
			     struct err *err)
{
	struct server_codes *c = arg;
	struct server *s = c->s;
	size_t needed = s->n_stacks;
	const struct rowbinary_value *marks = &v[STACK_BOGUS];
	uint32_t h = intern_add_bytes(&s->hashes, v[0].text, v[0].len);
	struct server_bogus b = { 0 };

	if (h >= needed || c->leaf[2 * (size_t)h] || c->leaf[2 * (size_t)h + 1])
		return 0; /* not asked for, or came twice */
	if (server_check_stack(v, err) ||
	    (c->wanted[2 * (size_t)h] &&
	     server_add_stack(c, v, false, &c->leaf[2 * (size_t)h], err)) ||
	    (c->wanted[2 * (size_t)h + 1] &&
	     server_add_stack(c, v, true, &c->leaf[2 * (size_t)h + 1], err)))
		return -1;
	if (!c->wanted[2 * (size_t)h + 1])
		return 0;
	/* how many frames cannot be callers, and the innermost of them */
	b.stack = c->leaf[2 * (size_t)h + 1];
	for (size_t i = marks->n; i-- > 0;) {
		if (!marks->item[i].u)
			continue;
		b.first = (uint32_t)i;
		b.n++;
	}
	if (b.n)
		*mem_add(c->bogus, c->n_bogus, c->cap_bogus) = b;
	return 0;
}

/* Asks for rows of a table that has no runs, by the keys in table `needed`. */
static int server_select_needed(struct server_codes *c, const char *sql,
				const char *types, const char *column,
				const void *keys, size_t len, rowbinary_fn *row,
				struct err *err)
{
	struct clickhouse_ask ask = {
		.sql = sql,
		.types = types,
		.row = row,
		.arg = c,
		.extra = "needed",
		.extra_columns = column,
		.data = keys,
		.len = len,
	};

	return len ? server_ask_counted(c->s, &ask, err) : 0;
}

/* Fetches the stacks of all groups. Returns 0, or -1 and *err. */
static int server_stacks(struct server_codes *c, struct err *err)
{
	struct server *s = c->s;
	size_t n = s->hashes.n;
	uint8_t *key OWNED = mem_new(n + 1, SERVER_HASH);

	s->n_stacks = n;
	c->leaf = mem_new(2 * n + 1, sizeof(*c->leaf));
	c->wanted = mem_new(2 * n + 1, sizeof(*c->wanted));
	for (size_t i = 0; i < s->n_raw; i++)
		c->wanted[2 * (size_t)s->raw[i].stack + s->raw[i].bogus] = true;
	for (size_t i = 0; i < n; i++)
		memcpy(key + i * SERVER_HASH,
		       intern_get(&s->hashes, (uint32_t)i), SERVER_HASH);
	int rc = server_select_needed(
		c,
		"SELECT " STACK_COLUMNS " FROM stack WHERE stack GLOBAL IN "
		"(SELECT stack FROM needed) LIMIT 1 BY stack",
		STACK_TYPES, "stack FixedString(16)", key, n * SERVER_HASH,
		server_take_stack, err);
	for (size_t i = 0; !rc && i < 2 * n; i++)
		if (c->wanted[i] && !c->leaf[i])
			rc = err_set(err, ERR_FORMAT,
				     "%s: table stack does not have all stacks "
				     "of the samples; push the runs again",
				     s->c->name);
	return rc;
}

enum {
	NAME_PLACE,
	NAME_LEVEL,
	NAME_LEVELS,
	NAME_FUNCTION,
	NAME_FILE,
	NAME_LINE,
	NAME_UNVERIFIED,
	NAME_START
};

/* The key of a symbol. */
struct server_symbol {
	uint64_t start;
	uint32_t image, name; /* image.id; in texts */
};

/* Takes a row of table name: of the function (level 0) or an inlined one. */
static int server_take_name(void *arg, const struct rowbinary_value *v,
			    struct err *err)
{
	struct server_codes *c = arg;
	uint32_t place = table_find_hash(&c->places, hash_u64(v[NAME_PLACE].u));
	uint64_t level = v[NAME_LEVEL].u;
	struct server_inlined in = {
		.name = intern_add_bytes(&c->texts, v[NAME_FUNCTION].text,
					 v[NAME_FUNCTION].len),
		.file = intern_add_bytes(&c->texts, v[NAME_FILE].text,
					 v[NAME_FILE].len),
		.line = (uint32_t)v[NAME_LINE].u,
	};

	if (place == TABLE_NONE)
		return 0;
	struct server_name *n = &c->name[place];
	if (!level) {
		if (n->named)
			return server_bad("a place has two functions", err);
		n->named = true;
		n->symbol = in.name;
		n->file = in.file;
		n->line = in.line;
		n->start = v[NAME_START].u;
		n->levels = (uint32_t)v[NAME_LEVELS].u;
		n->unverified = v[NAME_UNVERIFIED].u != 0;
		n->inlined = (uint32_t)c->n_inlined;
		return 0;
	}
	/* rows with a higher level are of an earlier version; the rows of a
	 * place follow each other */
	if (!n->named || level > n->levels || level != n->n_inlined + 1 ||
	    n->inlined + n->n_inlined != c->n_inlined)
		return 0;
	*mem_add(c->inlined, c->n_inlined, c->cap_inlined) = in;
	n->n_inlined++;
	return 0;
}

static int server_names(struct server_codes *c, struct err *err)
{
	c->name = mem_new(c->n_place + 1, sizeof(*c->name));
	return server_select_needed(
		c,
		"SELECT place, level, argMax(levels, version), "
		"argMax(function, version), argMax(file, version), "
		"argMax(line, version), argMax(unverified, version), "
		"argMax(start, version) FROM name WHERE place GLOBAL IN "
		"(SELECT place FROM needed) GROUP BY place, level "
		"ORDER BY place, level",
		"u64 u8 u8 string string u32 u8 u64", "place UInt64", c->place,
		c->n_place * sizeof(*c->place), server_take_name, err);
}

static struct value server_kept_text(const struct server_codes *c, uint32_t id)
{
	size_t len = intern_length(&c->texts, id);

	return len ? server_text_of(intern_get(&c->texts, id), len)
		   : (struct value){ .kind = VALUE_NULL };
}

/* Decodes hexadecimal digits. Returns the number of bytes, or -1. */
static int server_unhex(const char *s, size_t n, uint8_t *out)
{
	for (size_t i = 0; i < n; i++) {
		const char *at = memchr("0123456789abcdef", s[i], 16);

		if (!at)
			return -1;
		unsigned int digit = (unsigned int)(at - "0123456789abcdef");
		out[i / 2] = (uint8_t)(i % 2 ? out[i / 2] << 4 | digit : digit);
	}
	return (int)(n / 2);
}

/* Writes all images; those with a named frame get a status. */
static int server_put_images(struct server_codes *c, struct err *err)
{
	for (uint32_t i = 0; i < c->images.n; i++) {
		const char *key = intern_get(&c->images, i);
		size_t len = intern_length(&c->images, i);
		uint32_t word[2];
		uint8_t id[20];

		memcpy(word, key, sizeof(word));
		int n = server_unhex(key + sizeof(word), word[1], id);
		if (n < 0)
			return server_bad_reply(
				c->s, "a build-id is not hexadecimal", err);

		const char *path = key + sizeof(word) + word[1];
		const char *status = image_status_word(
			c->unverified[i] ? IMAGE_UNVERIFIED : IMAGE_NAMED);

		if (SERVED_PUT(
			    c->s->out, "served_put_image", err,
			    server_int(i + 1), server_int(word[0]),
			    server_text_of(path, len - sizeof(word) - word[1]),
			    n ? server_blob(id, (size_t)n)
			      : (struct value){ .kind = VALUE_NULL },
			    c->named[i] ? server_text_of(status, strlen(status))
					: (struct value){ .kind = VALUE_NULL }))
			return -1;
	}
	return 0;
}

/* Sets *id to the symbol.id of a frame with a name, and writes a new symbol. */
static int server_put_symbol(struct server_codes *c, uint32_t image,
			     const struct server_name *n, int64_t *id,
			     struct err *err)
{
	struct server_symbol key = { .start = n->start,
				     .image = image,
				     .name = n->symbol };
	size_t known = c->symbols.n;

	*id = (int64_t)intern_add_bytes(&c->symbols, &key, sizeof(key)) + 1;
	if ((size_t)*id <= known)
		return 0;

	return SERVED_PUT(c->s->out, "served_put_symbol", err, server_int(*id),
			  server_int(image), server_int((int64_t)n->start),
			  server_text_of(intern_get(&c->texts, n->symbol),
					 intern_length(&c->texts, n->symbol)),
			  server_int(n->unverified));
}

/* Writes frames, their names, and which are no callers; sets named[]. */
static int server_put_frames(struct server_codes *c, struct err *err)
{
	c->named = mem_new(c->images.n + 1, sizeof(*c->named));
	c->unverified = mem_new(c->images.n + 1, sizeof(*c->unverified));
	for (uint32_t i = 0; i < c->frames.n; i++) {
		struct server_frame_key f;

		memcpy(&f, intern_get(&c->frames, i), sizeof(f));
		uint32_t id = i + 1;
		uint32_t place = table_find_hash(&c->places, hash_u64(f.place));
		const struct server_name *n = &c->name[place];
		const struct value none = { .kind = VALUE_NULL };
		int64_t symbol = 0;

		if (n->named && server_put_symbol(c, f.image, n, &symbol, err))
			return -1;

		c->named[f.image - 1] |= n->named;
		c->unverified[f.image - 1] |= n->unverified;
		if (SERVED_PUT(c->s->out, "served_put_frame", err,
			       server_int(id), server_int(f.image),
			       server_int((int64_t)f.off), server_int(f.flags),
			       server_known((int64_t)f.vaddr, 0),
			       server_known(symbol, 0),
			       symbol ? server_int((int64_t)(f.off - n->start))
				      : none,
			       server_kept_text(c, n->file),
			       n->file ? server_int(n->line) : none))
			return -1;
		for (uint32_t k = 0; k < n->n_inlined; k++) {
			const struct server_inlined *in =
				&c->inlined[n->inlined + k];
			/* level 1 is inlined into the function, the last one is
			 * the innermost, which is depth 0 */

			if (SERVED_PUT(c->s->out, "served_put_inline", err,
				       server_int(id),
				       server_int(n->n_inlined - 1 - k),
				       server_kept_text(c, in->name),
				       server_kept_text(c, in->file),
				       server_int(in->line)))
				return -1;
		}
		if (f.bogus == FLEET_FRAME_SOUND)
			continue;

		if (SERVED_PUT(c->s->out, "served_put_callsite", err,
			       server_int(i + 1),
			       server_int(f.bogus == FLEET_FRAME_NO_CODE
						  ? CALLSITE_NO_CODE
						  : CALLSITE_NO_CALL)))
			return -1;
	}
	return 0;
}

/* Writes the tree of stacks; the end of a fetched stack has its hash. */
static int server_put_stacks(struct server_codes *c, struct err *err)
{
	uint32_t *depth OWNED = mem_new(c->nodes.n + 1, sizeof(*depth));
	const char **hash OWNED = mem_new(c->nodes.n + 1, sizeof(*hash));
	int rc = 0;

	for (size_t i = 0; i < 2 * c->s->n_stacks; i++)
		if (c->leaf[i])
			hash[c->leaf[i]] =
				intern_get(&c->s->hashes, (uint32_t)(i / 2));
	for (uint32_t i = 0; !rc && i < c->nodes.n; i++) {
		struct server_node node;

		memcpy(&node, intern_get(&c->nodes, i), sizeof(node));
		depth[i + 1] = depth[node.parent] + 1;

		rc = SERVED_PUT(
			c->s->out, "served_put_stack", err, server_int(i + 1),
			server_known(node.parent, 0), server_int(node.frame),
			server_int(depth[i + 1]),
			hash[i + 1] ? server_blob(hash[i + 1], SERVER_HASH)
				    : (struct value){ .kind = VALUE_NULL });
	}
	return rc;
}

/* Writes the recorded stacks, and how many of their frames are no callers. */
static int server_put_chains(struct server_codes *c, struct err *err)
{
	const struct server *s = c->s;

	for (size_t i = 0; i < s->n_raw; i++)
		if (SERVED_PUT(s->out, "served_put_raw", err,
			       server_int((int64_t)i + 1),
			       server_int(c->leaf[2 * (size_t)s->raw[i].stack +
						  s->raw[i].bogus]),
			       server_known(s->raw[i].ended, 0)))
			return -1;
	for (size_t i = 0; i < c->n_bogus; i++)
		if (SERVED_PUT(s->out, "served_put_check", err,
			       server_int(c->bogus[i].stack),
			       server_int(c->bogus[i].n),
			       server_int(c->bogus[i].first)))
			return -1;
	return 0;
}

enum {
	PLACE_ID,
	PLACE_BUILD_ID,
	PLACE_PATH,
	PLACE_KIND,
	PLACE_OFFSET,
	PLACE_VADDR,
	PLACE_FLAGS
};

/* Takes a place without a name, as a frame. */
static int server_take_place(void *arg, const struct rowbinary_value *v,
			     struct err *err)
{
	struct server_codes *c = arg;
	struct server_frame_key key = {
		.off = v[PLACE_OFFSET].u,
		.vaddr = v[PLACE_VADDR].u,
		.place = v[PLACE_ID].u,
		.flags = (uint16_t)v[PLACE_FLAGS].u,
	};

	key.image = server_image(c, &v[PLACE_BUILD_ID], &v[PLACE_PATH],
				 &v[PLACE_KIND], err);
	if (!key.image)
		return -1;
	server_place(c, key.place);
	if (intern_add_bytes(&c->frames, &key, sizeof(key)) >= SERVER_ITEMS_MAX)
		return server_bad("too many places", err);
	return 0;
}

/* Fetches the places without a name. Returns 0, or -1 and *err. */
static int server_code_places(struct server_codes *c, struct err *err)
{
	struct clickhouse_ask ask = {
		.sql = "SELECT p, any(b), any(f), any(k), any(o), any(v), "
		       "any(g) FROM stack ARRAY JOIN place AS p, build_id AS "
		       "b, path AS f, kind AS k, offset AS o, vaddr AS v, flags "
		       "AS g WHERE p GLOBAL NOT IN (SELECT place FROM name) "
		       "GROUP BY p ORDER BY p",
		.types = "u64 string string string u64 u64 u16",
		.row = server_take_place,
		.arg = c,
	};

	if (server_ask_counted(c->s, &ask, err))
		return -1;
	c->name = mem_new(c->n_place + 1, sizeof(*c->name));
	return 0;
}

static void server_code_release(struct server_codes *c)
{
	intern_release(&c->images);
	intern_release(&c->frames);
	intern_release(&c->nodes);
	intern_release(&c->texts);
	intern_release(&c->symbols);
	table_release(&c->places);
	free_all(c->named, c->unverified, c->place, c->name, c->inlined,
		 c->leaf, c->wanted, c->bogus);
}

int server_code(struct server *s, struct err *err)
{
	struct server_codes c RELEASED_BY(server_code_release) = { .s = s };

	intern_add(&c.texts, "");
	if (server_stacks(&c, err) || server_names(&c, err) ||
	    server_put_frames(&c, err) || server_put_images(&c, err) ||
	    server_put_stacks(&c, err))
		return -1;
	return server_put_chains(&c, err);
}

int server_unnamed(struct server *s, struct err *err)
{
	struct server_codes c RELEASED_BY(server_code_release) = { .s = s };

	intern_add(&c.texts, "");
	if (server_code_places(&c, err) || server_put_frames(&c, err))
		return -1;
	return server_put_images(&c, err);
}
