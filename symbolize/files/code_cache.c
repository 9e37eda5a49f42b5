/* code_cache.c - keeps what analysis has found about the code of files, for the
 * run and, by build-id, on disk.
 *
 * The files are next to those of names, in the same form: read through struct
 * bytes, and ignored and replaced if they are damaged. They have CODE_RULES, a
 * sum of the sources that do the analysis: another version does it again. */
#include "symbolize/files/code_cache.h"

#include <inttypes.h>

#include "stitch/base/bytes.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "symbolize/elf/elf.h"
#include "symbolize/files/name_cache.h"

#define CODE_CACHE_MAGIC "bs code\1"
/* The most addresses of a file: 2 MiB. A minute of a compile has 20,000 of
 * cc1. */
#define CODE_PLACES_MAX ((size_t)1 << 18)

struct code_cache {
	char *file;		  /* path of the file with the code */
	char path[PATH_SIZE];	  /* path on disk; "": it is not stored */
	struct tried_files tried; /* the file with the code */
	/* ELF address << CODE_CACHE_BITS | the note; the first n_old are
	 * sorted */
	uint64_t *place;
	size_t n, cap, n_old;
	uint64_t text; /* hash of .text */
	bool has_text;
	bool noted; /* something is new */
};

/* ---- on disk */

/* The start of a file, before its places. */
struct code_cache_head {
	uint32_t rules, has_text;
	uint64_t id[4]; /* struct tried_path.id */
	uint64_t changed, text;
};

static bool code_cache_read(struct code_cache *c, struct bytes *b)
{
	struct code_cache_head h;
	struct bytes part;
	const struct tried_path *now = c->tried.p;

	if (bytes_take(b, sizeof(h), &part, NULL))
		return false;
	memcpy(&h, part.pos, sizeof(h));
	const size_t n = bytes_left(b) / sizeof(*c->place);

	if (h.rules != CODE_RULES || memcmp(h.id, now->id, sizeof(h.id)) != 0 ||
	    h.changed != now->changed || n > CODE_PLACES_MAX ||
	    bytes_left(b) % sizeof(*c->place))
		return false;
	mem_grow(c->place, c->cap, n);
	if (bytes_u64s(b, c->place, n, NULL))
		return false;
	for (size_t i = 1; i < n; i++)
		if (c->place[i - 1] >> CODE_CACHE_BITS >= c->place[i] >>
		    CODE_CACHE_BITS)
			return false;
	c->n = c->n_old = n;
	c->has_text = h.has_text;
	c->text = h.text;
	return true;
}

bool code_cache_is_sound(const void *bytes, uint64_t len)
{
	struct tried_path none = { .path = NULL };
	struct code_cache c = { .tried = { .p = &none, .n = 1 } };
	struct bytes b;
	unsigned int packed;

	bytes_init(&b, bytes, len, "", 0, false);
	bool sound = code_cache_read(&c, &b);

	for (size_t i = 0; i < c.n; i++)
		sound &= code_cache_find(&c, c.place[i] >> CODE_CACHE_BITS,
					 &packed);
	free(c.place);
	return sound;
}

static bool code_cache_save(struct code_cache *c)
{
	struct name_cache_output o = { .n = 0 };
	struct code_cache_head h = {
		.rules = CODE_RULES,
		.has_text = c->has_text,
		.changed = c->tried.p->changed,
		.text = c->text,
	};
	size_t n = 0;

	memcpy(h.id, c->tried.p->id, sizeof(h.id));
	sort_items(c->place, c->n, compare_u64);
	for (size_t i = 0; i < c->n; i++)
		if (!n || c->place[i] >> CODE_CACHE_BITS !=
				  c->place[n - 1] >> CODE_CACHE_BITS)
			c->place[n++] = c->place[i];
	name_cache_begin_file(&o, CODE_CACHE_MAGIC);
	name_cache_put(&o, &h, sizeof(h));
	name_cache_put(&o, c->place, n * sizeof(*c->place));
	return name_cache_write_file(&o, c->path);
}

/* ---- the caches of a run */

static bool code_cache_same(const void *owner, uint32_t id, const void *key)
{
	const struct symbolizer *sy = owner;

	return !strcmp(sy->code[id]->file, key);
}

struct code_cache *code_cache_of(struct symbolizer *sy,
				 const struct elf_file *ef)
{
	const uint64_t hash = hash_bytes(ef->path, strlen(ef->path), 0);
	char hex[2 * sizeof(ef->id) + 1];
	struct bytes b;
	bool damaged;

	if (ef->fd < 0)
		return NULL;
	uint32_t id =
		table_find(&sy->by_file, hash, code_cache_same, sy, ef->path);

	if (id != TABLE_NONE) {
		if (tried_files_unchanged(&sy->code[id]->tried))
			return sy->code[id];
		/* a user of the old cache continues with the file as it was */
		sy->code[id]->path[0] = '\0';
		table_remove(&sy->by_file, hash, id);
	}
	struct code_cache *c = mem_new(1, sizeof(*c));

	table_add(&sy->by_file, hash, (uint32_t)sy->n_code);
	*mem_add(sy->code, sy->n_code, sy->cap_code) = c;
	c->file = mem_strdup(ef->path);
	tried_files_add(&c->tried, c->file);
	if (!sy->opts.cache || ef->id_len < 2 ||
	    !tried_files_can_tell(&c->tried))
		return c;
	elf_id_hex(ef->id, ef->id_len, hex);
	int n = snprintf(c->path, PATH_SIZE,
			 "%s/names/%.2s/%s-code-%016" PRIx64, sy->opts.cache,
			 hex, hex + 2,
			 hash_content(ef->path, strlen(ef->path), 0));

	if (n < 0 || n >= PATH_SIZE)
		c->path[0] = '\0';
	unsigned char *buf OWNED =
		c->path[0] ? name_cache_read_file(c->path, CODE_CACHE_MAGIC, &b,
						  &damaged)
			   : NULL;

	if (buf)
		code_cache_read(c, &b);
	return c;
}

bool code_cache_find(const struct code_cache *c, uint64_t vaddr,
		     unsigned int *packed)
{
	if (!c || !c->n_old)
		return false;
	const size_t at = search_where(c->n_old, i,
				       c->place[i] >> CODE_CACHE_BITS >= vaddr);

	if (at == c->n_old || c->place[at] >> CODE_CACHE_BITS != vaddr)
		return false;
	*packed = c->place[at] & ((1u << CODE_CACHE_BITS) - 1);
	return true;
}

void code_cache_note(struct code_cache *c, uint64_t vaddr, unsigned int packed)
{
	if (!c || !c->path[0] || c->n == CODE_PLACES_MAX ||
	    vaddr >> (64 - CODE_CACHE_BITS))
		return;
	*mem_add(c->place, c->n, c->cap) = vaddr << CODE_CACHE_BITS | packed;
	c->noted = true;
}

bool code_cache_find_text(const struct code_cache *c, uint64_t *hash)
{
	if (!c || !c->has_text)
		return false;
	*hash = c->text;
	return true;
}

void code_cache_note_text(struct code_cache *c, uint64_t hash)
{
	if (!c)
		return;
	c->text = hash;
	c->has_text = c->noted = true;
}

void code_cache_end(struct symbolizer *sy)
{
	for (size_t i = 0; i < sy->n_code; i++) {
		struct code_cache *c = sy->code[i];

		if (c->noted && c->path[0])
			sy->saved |= code_cache_save(c);
		tried_files_release(&c->tried);
		free_all(c->file, c->place, c);
	}
	table_release(&sy->by_file);
	free(sy->code);
}
