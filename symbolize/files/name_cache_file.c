/* name_cache_file.c - the files of the name cache.
 *
 * They are in host byte order and read through struct bytes like other
 * untrusted files; a damaged one is reported and ignored. They are written
 * under a temporary name and renamed, so of two concurrent runs one wins. */
#include "symbolize/files/name_cache_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stitch/base/bytes.h"
#include "stitch/base/mem.h"
#include "stitch/files/named_file.h"
#include "symbolize/files/name_cache_content.h"
#include "stitch/base/search.h"
#include "stitch/files/write_all.h"

/* A larger file was not written by this program. */
#define FILE_MAX ((uint64_t)256 << 20)
/* Limit of the folder. A desktop's libraries take some 20 MB. */
#define FOLDER_MAX ((uint64_t)256 << 20)

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

static int name_cache_read_segments(struct name_cache *m, struct bytes *b,
				    uint32_t n)
{
	if (n > bytes_left(b) / 28)
		return -1;
	m->seg = mem_new(n, sizeof(*m->seg));
	for (uint32_t i = 0; i < n; i++, m->n_seg++)
		if (bytes_u64(b, &m->seg[i].off, NULL) ||
		    bytes_u64(b, &m->seg[i].vaddr, NULL) ||
		    bytes_u64(b, &m->seg[i].filesz, NULL) ||
		    bytes_u32(b, &m->seg[i].flags, NULL))
			return -1;
	return 0;
}

static int name_cache_read_sections(struct name_cache *m, struct bytes *b,
				    uint32_t n)
{
	if (n > bytes_left(b) / 16)
		return -1;
	m->part = mem_new(n, sizeof(*m->part));
	for (uint32_t i = 0; i < n; i++, m->n_part++) {
		struct cached_section *p = &m->part[i];

		if (bytes_u32(b, &p->file, NULL) ||
		    bytes_u32(b, &p->name, NULL) ||
		    bytes_u64(b, &p->hash, NULL) || p->file >= m->n_text ||
		    p->name >= m->n_text)
			return -1;
	}
	return 0;
}

static int name_cache_read_symbols(struct name_cache *m, struct bytes *b,
				   uint32_t n)
{
	if (n > bytes_left(b) / 36)
		return -1;
	mem_grow(m->row, m->cap_row, n);
	for (; m->n_row < n; m->n_row++) {
		struct cached_symbol *r = &m->row[m->n_row];

		if (bytes_u64(b, &r->start, NULL) ||
		    bytes_u64(b, &r->size, NULL) ||
		    bytes_u32(b, &r->name, NULL) ||
		    bytes_u32(b, &r->raw, NULL) ||
		    bytes_u32(b, &r->file, NULL) ||
		    bytes_u32(b, &r->how, NULL) || bytes_u32(b, &r->line, NULL))
			return -1;
	}
	return 0;
}

static int name_cache_read_entries(struct name_cache *m, struct bytes *b,
				   uint32_t n)
{
	if (n > bytes_left(b) / 17)
		return -1;
	mem_grow(m->entry, m->cap, n);
	for (; m->n < n; m->n++) {
		struct cached_offset *e = &m->entry[m->n];
		uint8_t flag;

		if (bytes_u64(b, &e->off, NULL) ||
		    bytes_u32(b, &e->first, NULL) ||
		    bytes_u32(b, &e->n, NULL) || bytes_u8(b, &flag, NULL) ||
		    flag > 1 || !e->n || e->first > m->n_row ||
		    e->n > m->n_row - e->first)
			return -1;
		e->after_call = flag;
		if (m->n && cached_offset_compare(e, e - 1) <= 0)
			return -1;
	}
	return 0;
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
	    name_cache_read_tried(m, b, n[1]) ||
	    name_cache_read_segments(m, b, n[2]) ||
	    name_cache_read_sections(m, b, n[3]) ||
	    name_cache_read_symbols(m, b, n[4]) ||
	    name_cache_read_entries(m, b, n[5]) || bytes_left(b))
		return -1;
	m->n_old = m->n;
	return 0;
}

void name_cache_release(struct name_cache *m)
{
	tried_files_release(&m->tried);
	free(m->tried_text);
	free(m->entry);
	free(m->row);
	free(m->seg);
	free(m->part);
	free(m->text);
	table_release(&m->by_text);
}

void name_cache_load(struct name_cache *m)
{
	struct bytes b;
	size_t len;
	uint64_t size;
	uint64_t sum;
	unsigned char *buf = NULL;
	int fd = named_file_open(m->path, &size, NULL);

	if (fd < 0)
		return;
	if (size && size <= FILE_MAX) {
		buf = named_file_read(fd, size, &len);
		/* Marks it as used, for name_cache_prune(). */
		futimens(fd, NULL);
	}
	close(fd);
	if (!buf)
		return;
	/* A file of an older version is not damaged; it is replaced. */
	if (len >= sizeof(NAME_CACHE_MAGIC) - 1 &&
	    !memcmp(buf, NAME_CACHE_MAGIC, sizeof(NAME_CACHE_MAGIC) - 2) &&
	    buf[sizeof(NAME_CACHE_MAGIC) - 2] <
		    NAME_CACHE_MAGIC[sizeof(NAME_CACHE_MAGIC) - 2]) {
		free(buf);
		return;
	}
	bytes_init(&b, buf, len, m->path, 0, false);
	if (bytes_skip(&b, sizeof(NAME_CACHE_MAGIC) - 1, NULL) ||
	    memcmp(buf, NAME_CACHE_MAGIC, sizeof(NAME_CACHE_MAGIC) - 1) != 0 ||
	    bytes_u64(&b, &sum, NULL) ||
	    sum != hash_content(b.pos, bytes_left(&b), 0) ||
	    name_cache_read_all(m, &b)) {
		struct name_cache empty = { .n = 0 };

		name_cache_release(m);
		memcpy(empty.path, m->path, sizeof(empty.path));
		*m = empty;
		snprintf(m->note, sizeof(m->note), "%.200s: damaged, ignored",
			 m->path);
	}
	free(buf);
}

/* ---- writing */

struct name_cache_output {
	unsigned char *p;
	size_t n, cap;
};

static void name_cache_put(struct name_cache_output *o, const void *p, size_t n)
{
	if (!n)
		return;
	mem_append(o->p, o->n, o->cap, p, n);
}

static void name_cache_put_u32(struct name_cache_output *o, size_t v)
{
	uint32_t x = (uint32_t)v;

	name_cache_put(o, &x, sizeof(x));
}

static void name_cache_put_u64(struct name_cache_output *o, uint64_t v)
{
	name_cache_put(o, &v, sizeof(v));
}

static void name_cache_put_all(struct name_cache_output *o,
			       struct name_cache *m)
{
	size_t n[] = { m->n_text, m->tried.n, m->n_seg,
		       m->n_part, m->n_row,   m->n };

	name_cache_put(o, NAME_CACHE_MAGIC, sizeof(NAME_CACHE_MAGIC) - 1);
	name_cache_put_u64(o, 0); /* checksum, set below */
	for (size_t i = 0; i < ARRAY_SIZE(n); i++)
		name_cache_put_u32(o, n[i]);
	name_cache_put_u32(o, m->file);
	name_cache_put_u32(o, m->status);
	name_cache_put(o, m->text, m->n_text);
	for (size_t i = 0; i < m->tried.n; i++) {
		name_cache_put_u32(o, m->tried_text[i]);
		name_cache_put(o, m->tried.p[i].id, sizeof(m->tried.p[i].id));
	}
	for (size_t i = 0; i < m->n_seg; i++) {
		name_cache_put_u64(o, m->seg[i].off);
		name_cache_put_u64(o, m->seg[i].vaddr);
		name_cache_put_u64(o, m->seg[i].filesz);
		name_cache_put_u32(o, m->seg[i].flags);
	}
	for (size_t i = 0; i < m->n_part; i++) {
		name_cache_put_u32(o, m->part[i].file);
		name_cache_put_u32(o, m->part[i].name);
		name_cache_put_u64(o, m->part[i].hash);
	}
	for (size_t i = 0; i < m->n_row; i++) {
		const struct cached_symbol *r = &m->row[i];

		name_cache_put_u64(o, r->start);
		name_cache_put_u64(o, r->size);
		name_cache_put_u32(o, r->name);
		name_cache_put_u32(o, r->raw);
		name_cache_put_u32(o, r->file);
		name_cache_put_u32(o, r->how);
		name_cache_put_u32(o, r->line);
	}
	for (size_t i = 0; i < m->n; i++) {
		name_cache_put_u64(o, m->entry[i].off);
		name_cache_put_u32(o, m->entry[i].first);
		name_cache_put_u32(o, m->entry[i].n);
		name_cache_put(o, &m->entry[i].after_call, 1);
	}
	uint64_t sum = hash_content(o->p + 16, o->n - 16, 0);
	memcpy(o->p + 8, &sum, sizeof(sum));
}

static void name_cache_make_folders(char *path)
{
	for (char *s = path + 1; (s = strchr(s, '/')); s++) {
		*s = '\0';
		mkdir(path, 0700);
		*s = '/';
	}
}

bool name_cache_save(struct name_cache *m)
{
	struct name_cache_output o = { .n = 0 };
	char temp[PATH_SIZE + 32];

	name_cache_put_all(&o, m);
	name_cache_make_folders(m->path);
	snprintf(temp, sizeof(temp), "%s.%ld", m->path, (long)getpid());
	int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool ok = fd >= 0 && o.n <= FILE_MAX && !write_all(fd, o.p, o.n);
	if (fd >= 0) {
		ok &= !close(fd);
		if (!ok || rename(temp, m->path))
			unlink(temp);
	}
	free(o.p);
	return ok;
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
