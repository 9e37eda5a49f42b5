/* name_cache.c - keeps names of an image from earlier runs on disk, by
 * build-id. */
#include "symbolize/files/name_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stitch/base/bytes.h"
#include "stitch/base/mem.h"
#include "stitch/files/named_file.h"
#include "stitch/files/write_all.h"
#include "stitch/tasks/frame.h"
#include "symbolize/elf/elf.h"
#include "symbolize/report.h"

/* Cache files are in host byte order and read through struct bytes like other
 * untrusted files; a damaged one is reported and ignored. They are written
 * under a temporary name and renamed, so of two concurrent runs one wins. */

/* A larger file was not written by this program. */
#define FILE_MAX ((uint64_t)256 << 20)
/* Limit of the folder. A desktop's libraries take some 20 MB. */
#define FOLDER_MAX ((uint64_t)256 << 20)

/* Bytes of an item in the file: as in memory, up to the end of its last
 * field. */
#define ITEM_BYTES(type, last)                                                 \
	(offsetof(struct type, last) + sizeof(((struct type *)0)->last))
#define SEGMENT_BYTES ITEM_BYTES(segment, flags)
#define SECTION_BYTES ITEM_BYTES(cached_section, hash)
#define SYMBOL_BYTES ITEM_BYTES(cached_symbol, unverified)
#define ENTRY_BYTES ITEM_BYTES(cached_offset, after_call)

/* ---- reading */

/* Takes n items of `size` bytes in memory, `bytes` in the file. Returns NULL if
 * the file ends first. */
static void *name_cache_take(struct bytes *b, uint32_t n, size_t size,
			     size_t bytes)
{
	struct bytes part;

	if (n > bytes_left(b) / bytes)
		return NULL;
	unsigned char *item = mem_new(n, size);

	for (size_t i = 0; i < n && !bytes_take(b, bytes, &part, NULL); i++)
		memcpy(item + i * size, part.pos, bytes);
	return item;
}

static int name_cache_read_all(struct name_cache *m, struct bytes *b)
{
	/* bytes of text, paths, segments, sections, rows, entries */
	uint32_t n[6];
	struct bytes text;

	for (size_t i = 0; i < ARRAY_SIZE(n); i++)
		if (bytes_u32(b, &n[i], NULL))
			return -1;
	if (bytes_u32(b, &m->file, NULL) || bytes_u32(b, &m->status, NULL) ||
	    bytes_take(b, n[0], &text, NULL) || !n[0] ||
	    text.pos[n[0] - 1] != '\0')
		return -1;
	mem_grow(m->text, m->cap_text, n[0]);
	memcpy(m->text, text.pos, n[0]);
	m->n_text = n[0];
	if (m->file >= m->n_text || m->status >= m->n_text)
		return -1;
	for (uint32_t i = 0; i < n[1]; i++) {
		struct tried_path p = { .changed = 0 };
		uint32_t path;

		if (bytes_u32(b, &path, NULL) || bytes_u64s(b, p.id, 4, NULL) ||
		    path >= m->n_text)
			return -1;
		p.path = mem_strdup(m->text + path);
		*mem_add(m->tried.p, m->tried.n, m->tried.cap) = p;
	}
	m->seg = name_cache_take(b, n[2], sizeof(*m->seg), SEGMENT_BYTES);
	m->part = name_cache_take(b, n[3], sizeof(*m->part), SECTION_BYTES);
	m->row = name_cache_take(b, n[4], sizeof(*m->row), SYMBOL_BYTES);
	m->entry = name_cache_take(b, n[5], sizeof(*m->entry), ENTRY_BYTES);
	if (!m->seg || !m->part || !m->row || !m->entry || bytes_left(b))
		return -1;
	m->n_seg = n[2];
	m->n_part = n[3];
	m->n_row = m->cap_row = n[4];
	m->n = m->cap = m->n_old = n[5];
	/* all references must be valid, and the order be right */
	for (size_t i = 0; i < m->n; i++) {
		const struct cached_offset *e = &m->entry[i];

		if (e->after_call > 1 || !e->n || e->first > m->n_row ||
		    e->n > m->n_row - e->first ||
		    (i && cached_offset_compare(e, e - 1) <= 0))
			return -1;
	}
	return any_where(m->n_part, i,
			 m->part[i].file >= m->n_text ||
				 m->part[i].name >= m->n_text)
		       ? -1
		       : 0;
}

void name_cache_release(struct name_cache *m)
{
	tried_files_release(&m->tried);
	free_all(m->tried_text, m->entry, m->row, m->seg, m->part, m->text);
	table_release(&m->by_text);
}

unsigned char *name_cache_read_file(const char *path, const char *magic,
				    struct bytes *b, bool *damaged)
{
	const size_t n = strlen(magic);
	size_t len;
	uint64_t sum;
	unsigned char *buf = named_file_load(path, FILE_MAX, &len);

	*damaged = false;
	if (!buf)
		return NULL;
	/* mark it as used, for name_cache_prune() */
	utimensat(AT_FDCWD, path, NULL, 0);
	bytes_init(b, buf, len, path, 0, false);
	if (!bytes_skip(b, n, NULL) && !memcmp(buf, magic, n) &&
	    !bytes_u64(b, &sum, NULL) &&
	    sum == hash_content(b->pos, bytes_left(b), 0))
		return buf;
	/* A file of another version is not damaged; it is replaced. */
	*damaged = len < n || memcmp(buf, magic, n - 1) != 0 ||
		   buf[n - 1] == (unsigned char)magic[n - 1];
	free(buf);
	return NULL;
}

void name_cache_load(struct name_cache *m)
{
	struct bytes b;
	bool damaged;
	unsigned char *buf OWNED =
		name_cache_read_file(m->path, NAME_CACHE_MAGIC, &b, &damaged);

	if (damaged || (buf && name_cache_read_all(m, &b))) {
		struct name_cache empty = { .n = 0 };

		name_cache_release(m);
		memcpy(empty.path, m->path, sizeof(empty.path));
		*m = empty;
		snprintf(m->note, sizeof(m->note), "%.200s: damaged, ignored",
			 m->path);
	}
}

/* ---- writing */

void name_cache_put(struct name_cache_output *o, const void *p, size_t n)
{
	if (!n)
		return;
	mem_append(o->p, o->n, o->cap, p, n);
}

void name_cache_begin_file(struct name_cache_output *o, const char *magic)
{
	const uint64_t sum = 0; /* set by name_cache_write_file() */

	name_cache_put(o, magic, strlen(magic));
	name_cache_put(o, &sum, sizeof(sum));
}

bool name_cache_write_file(struct name_cache_output *o, char *path)
{
	const uint64_t sum = hash_content(o->p + 16, o->n - 16, 0);
	char temp[PATH_SIZE + 32];

	memcpy(o->p + 8, &sum, sizeof(sum));
	for (char *s = path + 1; (s = strchr(s, '/')); s++) {
		*s = '\0';
		mkdir(path, 0700);
		*s = '/';
	}
	snprintf(temp, sizeof(temp), "%s.%ld", path, (long)getpid());
	int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool ok = fd >= 0 && o->n <= FILE_MAX && !write_all(fd, o->p, o->n);

	if (fd >= 0) {
		ok &= !close(fd);
		if (!ok || rename(temp, path))
			unlink(temp);
	}
	free(o->p);
	return ok;
}

static void name_cache_put_u32(struct name_cache_output *o, size_t v)
{
	uint32_t x = (uint32_t)v;

	name_cache_put(o, &x, sizeof(x));
}

static void name_cache_put_items(struct name_cache_output *o, const void *item,
				 size_t n, size_t size, size_t bytes)
{
	for (size_t i = 0; i < n; i++)
		name_cache_put(o, (const char *)item + i * size, bytes);
}

/* ---- limiting the size of the folder */

struct name_cache_entry_file {
	char *path;
	uint64_t size;
	int64_t used; /* ns */
};

struct name_cache_folder {
	struct name_cache_entry_file *k;
	size_t n, cap;
	uint64_t size;
};

COMPARE_BY(name_cache_compare_use, struct name_cache_entry_file, used);

/* Lists the files in folder and, while depth > 0, in its subfolders. */
static void name_cache_list_folder(const char *folder, int depth,
				   struct name_cache_folder *l)
{
	DIR *dir = opendir(folder);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		char path[PATH_SIZE];
		struct stat st;
		int n = snprintf(path, sizeof(path), "%s/%s", folder,
				 e->d_name);

		if (e->d_name[0] == '.' || n < 0 || (size_t)n >= sizeof(path) ||
		    lstat(path, &st))
			continue;
		if (S_ISDIR(st.st_mode) && depth)
			name_cache_list_folder(path, depth - 1, l);
		if (!S_ISREG(st.st_mode))
			continue;
		*mem_add(l->k, l->n, l->cap) = (struct name_cache_entry_file){
			mem_strdup(path), (uint64_t)st.st_size,
			st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec
		};
		l->size += (uint64_t)st.st_size;
	}
	if (dir)
		closedir(dir);
}

void name_cache_prune(const struct symbolizer *sy)
{
	struct name_cache_folder l = { .n = 0 };
	char folder[PATH_SIZE];
	uint64_t max = sy->opts.cache_max ? sy->opts.cache_max : FOLDER_MAX;

	if (!sy->opts.cache)
		return;
	int n = snprintf(folder, sizeof(folder), "%s/names", sy->opts.cache);
	if (n > 0 && (size_t)n < sizeof(folder))
		name_cache_list_folder(folder, 1, &l);
	bool cut = l.size > max;
	if (cut)
		sort_items(l.k, l.n, name_cache_compare_use);
	for (size_t i = 0; i < l.n; i++) {
		/* delete more than needed, so that not every run has to */
		if (cut && l.size > max / 4 * 3) {
			unlink(l.k[i].path);
			l.size -= l.k[i].size;
		}
		free(l.k[i].path);
	}
	free(l.k);
}

/* ---- strings */

static bool name_cache_same_text(const void *owner, uint32_t id,
				 const void *key)
{
	return !strcmp(((const struct name_cache *)owner)->text + id, key);
}

static uint32_t name_cache_put_text(struct name_cache *m, const char *s)
{
	if (!s)
		return NO_TEXT;
	/* Before the first string is added to a cache that was loaded, those
	 * that it has are indexed. */
	for (size_t i = 0, n; !m->indexed && i < m->n_text; i += n + 1) {
		n = strlen(m->text + i);
		table_add(&m->by_text, hash_bytes(m->text + i, n, 0),
			  (uint32_t)i);
	}
	m->indexed = true;
	size_t len = strlen(s) + 1;
	uint64_t h = hash_bytes(s, len - 1, 0);
	uint32_t at = table_find(&m->by_text, h, name_cache_same_text, m, s);

	if (at != TABLE_NONE)
		return at;
	if (m->n_text + len >= NO_TEXT)
		return NO_TEXT;
	mem_grow(m->text, m->cap_text, m->n_text + len);
	memcpy(m->text + m->n_text, s, len);
	at = (uint32_t)m->n_text;
	m->n_text += len;
	table_add(&m->by_text, h, at);
	return at;
}

static const char *name_cache_text(const struct name_cache *m, uint32_t at)
{
	return at < m->n_text ? m->text + at : NULL;
}

/* ---- the cache of one image */

static uint64_t name_cache_mix_text(uint64_t h, const char *s)
{
	return s ? hash_content(s, strlen(s), h) : hash_u64(h + 1);
}

/* Sets the path of the file on disk. Returns false if there can be none. */
static bool name_cache_place(const struct symbolizer *sy,
			     const struct image *img, char path[PATH_SIZE])
{
	char id[2 * sizeof(img->id) + 1];
	bool kernel = img->kind == IMAGE_KERNEL || img->kind == IMAGE_MODULE;

	if (!sy->opts.cache || img->id_len < 2 ||
	    img->id_len > sizeof(img->id) || (kernel && sy->opts.captured) ||
	    (!kernel && img->kind != IMAGE_FILE && img->kind != IMAGE_VDSO))
		return false;
	elf_id_hex(img->id, img->id_len, id);
	/* a hash of everything that the names depend on, except files */
	const struct symbolize_opts *o = &sy->opts;
	uint64_t h = name_cache_mix_text(img->kind, img->path);

	h = name_cache_mix_text(h, o->symfs);
	h = name_cache_mix_text(h, o->kallsyms);
	h = name_cache_mix_text(h, o->vmlinux);
	h = name_cache_mix_text(h, o->home);
	for (size_t i = 0; o->debug_dirs && o->debug_dirs[i]; i++)
		h = name_cache_mix_text(h, o->debug_dirs[i]);
	h = hash_u64(h ^ (o->no_demangle | o->no_inline << 1 | o->no_live << 2 |
			  (o->fetch_seconds > 0) << 3));
	/* The kernel is relocated at each boot, and kallsyms has absolute
	 * addresses. */
	if (kernel)
		h = hash_u64(h ^ img->start);
	int n = snprintf(path, PATH_SIZE, "%s/names/%.2s/%s-%016" PRIx64,
			 sy->opts.cache, id, id + 2, h);

	return n > 0 && n < PATH_SIZE;
}

struct name_cache *name_cache_open(struct symbolizer *sy,
				   const struct image *img, bool memory)
{
	struct name_cache *m = mem_new(1, sizeof(*m));

	if (!name_cache_place(sy, img, m->path)) {
		m->path[0] = '\0';
		if (memory)
			return m;
		free(m);
		return NULL;
	}
	name_cache_load(m);
	if (m->n && !tried_files_unchanged(&m->tried)) {
		struct name_cache *fresh = mem_new(1, sizeof(*fresh));

		memcpy(fresh->path, m->path, sizeof(fresh->path));
		fresh->old = m;
		m = fresh;
	}
	return m;
}

static const struct cached_offset *
name_cache_find(const struct name_cache *m, uint64_t off, bool after_call)
{
	const struct cached_offset e = { .off = off, .after_call = after_call };

	return m->n_old ? bsearch(&e, m->entry, m->n_old, sizeof(e),
				  cached_offset_compare)
			: NULL;
}

size_t name_cache_rest(const struct name_cache *m,
		       const struct code_place *code, size_t n,
		       struct code_place *rest)
{
	size_t n_rest = 0;

	for (size_t i = 0; i < n; i++)
		if (!name_cache_find(m, code[i].off, code[i].after_call))
			rest[n_rest++] = code[i];
	return n_rest;
}

int name_cache_tell(const struct name_cache *m, const struct code_place *code,
		    symbol_fn *fn, void *arg, struct err *err)
{
	const struct cached_offset *e =
		name_cache_find(m, code->off, code->after_call);

	if (!e)
		return 0;
	for (uint32_t i = 0; i < e->n; i++) {
		const struct cached_symbol *r = &m->row[e->first + i];
		struct symbol sym = {
			.off = e->off,
			.depth = i,
			.start = r->start,
			.size = r->size,
			.name = name_cache_text(m, r->name),
			.raw_name = name_cache_text(m, r->raw),
			.file = name_cache_text(m, r->file),
			.how = name_cache_text(m, r->how),
			.line = r->line,
			.unverified = (m->unverified && r->name != NO_TEXT) ||
				      r->unverified,
		};

		if (fn(arg, &sym, err))
			return -1;
	}
	return 1;
}

bool name_cache_report(const struct name_cache *m, struct image_report *rep)
{
	if (!m->n_old)
		return false;
	snprintf(rep->file, sizeof(rep->file), "%s",
		 name_cache_text(m, m->file));
	rep->status = image_status_of(name_cache_text(m, m->status));
	if (rep->status != IMAGE_NO_SYMBOLS && rep->status != IMAGE_UNVERIFIED)
		rep->status = IMAGE_NAMED;
	rep->seg = mem_dup(m->seg, m->n_seg * sizeof(*m->seg));
	rep->n_seg = m->n_seg;
	for (size_t i = 0; i < m->n_part; i++)
		report_add_section(rep,
				   &(struct section_used){
					   name_cache_text(m, m->part[i].file),
					   name_cache_text(m, m->part[i].name),
					   m->part[i].hash });
	return true;
}

void name_cache_add(struct name_cache *m, const struct code_place *code,
		    const struct symbol *sym)
{
	const struct cached_symbol r = {
		.start = sym->start,
		.size = sym->size,
		.name = name_cache_put_text(m, sym->name),
		.raw = name_cache_put_text(m, sym->raw_name),
		.file = name_cache_put_text(m, sym->file),
		.how = name_cache_put_text(m, sym->how),
		.line = sym->line,
		.unverified = sym->unverified,
	};

	m->noted = true;
	*mem_add(m->row, m->n_row, m->cap_row) = r;
	if (sym->depth) {
		m->entry[m->last].n++;
		return;
	}
	m->last = m->n;
	*mem_add(m->entry, m->n, m->cap) =
		(struct cached_offset){ .off = code->off,
					.first = (uint32_t)m->n_row - 1,
					.n = 1,
					.after_call = code->after_call };
}

/* Adds a note to the report if names or sections differ from those before the
 * files changed. */
static void name_cache_compare(const struct name_cache *m,
			       struct image_report *rep)
{
	struct image_report old = { .n_seg = 0 };
	/* Counts the offsets that had another function before the files
	 * changed. */
	size_t n = 0;

	for (size_t i = 0; m->old && i < m->n; i++) {
		const struct cached_offset *e = &m->entry[i];
		const struct cached_offset *o =
			name_cache_find(m->old, e->off, e->after_call);

		if (!o)
			continue;
		const struct cached_symbol *a = &m->row[e->first + e->n - 1];
		const struct cached_symbol *b =
			&m->old->row[o->first + o->n - 1];
		const char *x = name_cache_text(m, a->raw);
		const char *y = name_cache_text(m->old, b->raw);
		n += x && y && (a->start != b->start || strcmp(x, y) != 0);
	}

	if (m->old)
		name_cache_report(m->old, &old);
	const struct section_used *u = report_changed_section(
		rep->used, rep->n_used, old.used, old.n_used);
	if (n)
		snprintf(rep->note, sizeof(rep->note),
			 "%.120s: %zu names differ from before, "
			 "with the same build-id",
			 rep->file, n);
	else if (u)
		snprintf(rep->note, sizeof(rep->note),
			 "%.120s: %.40s changed, with the same build-id",
			 u->file, u->name);
	report_release(&old);
}

bool name_cache_end(struct name_cache *m, struct symbolizer *sy,
		    struct image_report *rep)
{
	bool whole = !rep->note[0];
	bool named =
		rep->status == IMAGE_NAMED || rep->status == IMAGE_NO_SYMBOLS;

	if (whole) {
		memcpy(rep->note, m->note, sizeof(rep->note));
		name_cache_compare(m, rep);
	}
	m->note[0] = '\0';
	/* A file that could not be downloaded may be available next time. */
	if (!whole || rep->missing[0] || !tried_files_can_tell(&m->tried) ||
	    (!named && rep->status != IMAGE_UNVERIFIED))
		return false;
	if (!m->noted)
		return m->n > 0;
	sort_items(m->entry, m->n, cached_offset_compare);
	m->n_old = m->n;
	m->noted = false;
	/* replace the cached facts about the image by the report */
	m->file = name_cache_put_text(m, rep->file);
	m->status = name_cache_put_text(m, image_status_word(rep->status));
	m->unverified = rep->status == IMAGE_UNVERIFIED;
	free(m->seg);
	m->n_seg = rep->n_seg;
	m->seg = mem_dup(rep->seg, rep->n_seg * sizeof(*rep->seg));
	free(m->part);
	m->part = mem_new(rep->n_used, sizeof(*m->part));
	m->n_part = rep->n_used;
	for (size_t i = 0; i < rep->n_used; i++)
		m->part[i] = (struct cached_section){
			name_cache_put_text(m, rep->used[i].file),
			name_cache_put_text(m, rep->used[i].name),
			rep->used[i].hash
		};
	if (named && m->path[0]) {
		free(m->tried_text);
		m->tried_text = mem_new(m->tried.n, sizeof(*m->tried_text));
		for (size_t i = 0; i < m->tried.n; i++)
			m->tried_text[i] =
				name_cache_put_text(m, m->tried.p[i].path);
		struct name_cache_output o = { .n = 0 };
		size_t n[] = { m->n_text, m->tried.n, m->n_seg,
			       m->n_part, m->n_row,   m->n };

		name_cache_begin_file(&o, NAME_CACHE_MAGIC);
		for (size_t i = 0; i < ARRAY_SIZE(n); i++)
			name_cache_put_u32(&o, n[i]);
		name_cache_put_u32(&o, m->file);
		name_cache_put_u32(&o, m->status);
		name_cache_put(&o, m->text, m->n_text);
		for (size_t i = 0; i < m->tried.n; i++) {
			name_cache_put_u32(&o, m->tried_text[i]);
			name_cache_put(&o, m->tried.p[i].id,
				       sizeof(m->tried.p[i].id));
		}
		name_cache_put_items(&o, m->seg, m->n_seg, sizeof(*m->seg),
				     SEGMENT_BYTES);
		name_cache_put_items(&o, m->part, m->n_part, sizeof(*m->part),
				     SECTION_BYTES);
		name_cache_put_items(&o, m->row, m->n_row, sizeof(*m->row),
				     SYMBOL_BYTES);
		name_cache_put_items(&o, m->entry, m->n, sizeof(*m->entry),
				     ENTRY_BYTES);
		/* a failure only costs the next run time */
		sy->saved |= name_cache_write_file(&o, m->path);
	}
	return m->n > 0;
}

void name_cache_free(struct name_cache *m)
{
	if (!m)
		return;
	if (m->old)
		name_cache_release(m->old);
	free(m->old);
	name_cache_release(m);
	free(m);
}
