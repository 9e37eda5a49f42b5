/* name_cache_file.c - the files of the name cache.
 *
 * They are in host byte order and read through struct bytes like other
 * untrusted files; a damaged one is reported and ignored. They are written
 * under a temporary name and renamed, so of two concurrent runs one wins. */
#include "symbolize/files/name_cache_content.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stitch/base/bytes.h"
#include "stitch/base/mem.h"
#include "stitch/files/named_file.h"
#include "stitch/files/write_all.h"

/* A larger file was not written by this program. */
#define FILE_MAX ((uint64_t)256 << 20)
/* Limit of the folder. A desktop's libraries take some 20 MB. */
#define FOLDER_MAX ((uint64_t)256 << 20)

/* Bytes of an item in the file: as it is in memory, up to the end of its last
 * field. */
#define ITEM_BYTES(type, last)                                                 \
	(offsetof(struct type, last) + sizeof(((struct type *)0)->last))
#define SEGMENT_BYTES ITEM_BYTES(segment, flags)
#define SECTION_BYTES ITEM_BYTES(cached_section, hash)
#define SYMBOL_BYTES ITEM_BYTES(cached_symbol, unverified)
#define ENTRY_BYTES ITEM_BYTES(cached_offset, after_call)

/* ---- reading */

static int name_cache_read_tried(struct name_cache *m, struct bytes *b,
				 uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct tried_path p = { .changed = 0 };
		uint32_t path;

		if (bytes_u32(b, &path, NULL) || bytes_u64s(b, p.id, 4, NULL) ||
		    path >= m->n_text)
			return -1;
		p.path = mem_strdup(m->text + path);
		*mem_add(m->tried.p, m->tried.n, m->tried.cap) = p;
	}
	return 0;
}

/* Takes n items of a size in memory. Returns NULL if the bytes end first. */
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

/* Returns whether what was taken refers to what is there, in its order. */
static bool name_cache_is_sound(const struct name_cache *m)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct cached_offset *e = &m->entry[i];

		if (e->after_call > 1 || !e->n || e->first > m->n_row ||
		    e->n > m->n_row - e->first ||
		    (i && cached_offset_compare(e, e - 1) <= 0))
			return false;
	}
	return !any_where(m->n_part, i,
			  m->part[i].file >= m->n_text ||
				  m->part[i].name >= m->n_text);
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
	if (m->file >= m->n_text || m->status >= m->n_text ||
	    name_cache_read_tried(m, b, n[1]))
		return -1;
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
	return name_cache_is_sound(m) ? 0 : -1;
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
	/* Marks it as used, for name_cache_prune(). */
	utimensat(AT_FDCWD, path, NULL, 0);
	bytes_init(b, buf, len, path, 0, false);
	if (!bytes_skip(b, n, NULL) && !memcmp(buf, magic, n) &&
	    !bytes_u64(b, &sum, NULL) &&
	    sum == hash_content(b->pos, bytes_left(b), 0))
		return buf;
	/* A file of an older version is not damaged; it is replaced. */
	*damaged = len < n || memcmp(buf, magic, n - 1) != 0 ||
		   buf[n - 1] >= (unsigned char)magic[n - 1];
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

bool name_cache_save(struct name_cache *m)
{
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
		name_cache_put(&o, m->tried.p[i].id, sizeof(m->tried.p[i].id));
	}
	name_cache_put_items(&o, m->seg, m->n_seg, sizeof(*m->seg),
			     SEGMENT_BYTES);
	name_cache_put_items(&o, m->part, m->n_part, sizeof(*m->part),
			     SECTION_BYTES);
	name_cache_put_items(&o, m->row, m->n_row, sizeof(*m->row),
			     SYMBOL_BYTES);
	name_cache_put_items(&o, m->entry, m->n, sizeof(*m->entry),
			     ENTRY_BYTES);
	return name_cache_write_file(&o, m->path);
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
		/* Deletes more than needed, so that not every run has to. */
		if (cut && l.size > max / 4 * 3) {
			unlink(l.k[i].path);
			l.size -= l.k[i].size;
		}
		free(l.k[i].path);
	}
	free(l.k);
}
