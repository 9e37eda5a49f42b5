/* debugfile.c - finds the separate file with a program's symbols or debug
 * information. */
#include "symbolize/files/debugfile.h"

#include <lzma.h>
#include <string.h>
#include <unistd.h>

#include "stitch/base/bytes.h"
#include "stitch/tasks/frame.h"
#include "symbolize/elf/elf.h"
#include "symbolize/files/fetch.h"
#include "symbolize/files/locate.h"
#include "symbolize/symbolizer.h"

/* Compares the CRC-32 of the whole file with the one in .gnu_debuglink. */
static bool debugfile_has_crc(const struct elf_file *ef, uint32_t want)
{
	unsigned char buf[65536];
	uint32_t crc = 0;
	off_t pos = 0;
	ssize_t n;

	while ((n = pread(ef->fd, buf, sizeof(buf), pos)) > 0) {
		crc = lzma_crc32(buf, (size_t)n, crc);
		pos += n;
	}
	return crc == want;
}

/* Reads the name at the start of a section; *b is left on the bytes after. */
static bool debugfile_read_link(const struct elf_file *ef, const char *section,
				struct bytes *b, const char **name)
{
	struct elf_section s;

	if (!elf_section_find(ef, section, &s))
		return false;
	Elf_Data *d = elf_section_data(&s);
	if (!d)
		return false;
	bytes_init(b, d->d_buf, d->d_size, ef->path, 0, ef->swap);
	return !bytes_str(b, name, NULL);
}

/* Opens the first place with the build-id, or downloads the file. */
static struct elf_file *debugfile_by_id(struct symbolizer *sy,
					const struct image *img,
					struct places *p)
{
	struct elf_file *ef = places_open(p, img->id, img->id_len);

	if (!ef && fetch_file(sy, FETCH_DEBUG, img->id, img->id_len)) {
		places_release(p);
		locate_debug(sy, img, p);
		ef = places_open(p, img->id, img->id_len);
	}
	return ef;
}

struct elf_file *debugfile_open(struct symbolizer *sy, const struct image *img,
				const struct elf_file *ef)
{
	struct image found = *img;
	struct places p = { .tried = sy->tried };
	struct elf_file *debug = NULL;
	struct bytes b;
	const char *name;
	bool linked = debugfile_read_link(ef, ".gnu_debuglink", &b, &name);
	uint32_t crc = 0;

	found.id_len = ef->id_len;
	memcpy(found.id, ef->id, sizeof(found.id));
	locate_debug(sy, &found, &p);
	if (linked)
		locate_link(sy, &found, ef, name, &p);
	if (ef->id_len) {
		debug = debugfile_by_id(sy, &found, &p);
	} else if (linked && !bytes_skip(&b, -(bytes_off(&b)) & 3, NULL) &&
		   !bytes_u32(&b, &crc, NULL)) {
		for (size_t i = 0; i < p.n && !debug; i++) {
			debug = elf_file_open(p.path[i], NULL);
			if (debug && !debugfile_has_crc(debug, crc)) {
				elf_file_close(debug);
				debug = NULL;
			}
		}
	}
	places_release(&p);
	return debug;
}

struct elf_file *debugfile_shared(struct symbolizer *sy,
				  const struct elf_file *ef)
{
	struct places p = { .tried = sy->tried };
	struct image img = { .kind = IMAGE_FILE };
	struct bytes b;
	const char *name;

	if (!debugfile_read_link(ef, ".gnu_debugaltlink", &b, &name))
		return NULL;
	size_t len = bytes_left(&b);
	if (!len || len > sizeof(img.id))
		return NULL;
	memcpy(img.id, b.pos, len);
	img.id_len = (uint8_t)len;
	locate_debug(sy, &img, &p);
	locate_shared(sy, ef, name, &p);
	struct elf_file *found = debugfile_by_id(sy, &img, &p);

	places_release(&p);
	return found;
}

struct elf_file *debugfile_copy(const struct symbolizer *sy,
				const struct image *img,
				const struct elf_file *ef, debugfile_fn *fn,
				void *arg)
{
	struct places p = { .tried = sy->tried };
	struct elf_file *copy = NULL;

	if (!ef->id_len)
		return NULL;
	locate_image(sy, img, &p);
	for (size_t i = 0; i < p.n && !copy; i++) {
		copy = elf_file_open(p.path[i], NULL);
		if (copy &&
		    (!elf_same_id(copy->id, copy->id_len, ef->id, ef->id_len) ||
		     !fn(arg, copy))) {
			elf_file_close(copy);
			copy = NULL;
		}
	}
	places_release(&p);
	return copy;
}

bool debugfile_try(struct symbolizer *sy, const struct image *img,
		   const struct elf_file *ef, debugfile_fn *fn, void *arg,
		   struct elf_file **debug)
{
	if (fn(arg, ef))
		return true;
	*debug = debugfile_open(sy, img, ef);
	if (*debug && fn(arg, *debug))
		return true;
	struct elf_file *copy = debugfile_copy(sy, img, ef, fn, arg);

	if (!copy)
		return false;
	elf_file_close(*debug);
	*debug = copy;
	return true;
}
