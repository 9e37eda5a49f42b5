/* index.c - the index that LTTng keeps of a stream file: whether the file has
 * all of it.
 *
 * A file that was cut between two packets, by a full disk or as it was copied
 * while it was written, looks whole. An index is believed only if its packets
 * follow each other from the file's begin, one of them begins where the file
 * ends, and the one before it ends there. What else it says is not used, as
 * packets say it too. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/ctf/ctf.h"
#include "formats/reader/reader.h"

/* lttng-tools, include/lttng/lttng-index.h: big endian on all machines. */
#define INDEX_MAGIC 0xC1F1DCC1u
#define INDEX_HEAD 16u
#define ENTRY_LEAST 56u

/* Reads how long the entries are. Returns 0 if it is no index. */
static uint32_t ctf_index_head(struct bytes *b)
{
	uint32_t magic, major, minor, len;

	if (bytes_u32(b, &magic, NULL) || bytes_u32(b, &major, NULL) ||
	    bytes_u32(b, &minor, NULL) || bytes_u32(b, &len, NULL) ||
	    magic != INDEX_MAGIC || major != 1 || len < ENTRY_LEAST)
		return 0;
	return len;
}

/* Returns how many packets of the index are behind the file's end, or 0 if the
 * index is not of this file. */
static uint64_t ctf_index_count_missing(struct bytes *b, uint64_t file_len)
{
	const uint32_t len = ctf_index_head(b);
	uint64_t end = 0;
	uint64_t missing = 0;
	bool fits = false;

	while (len && bytes_left(b) >= len) {
		uint64_t off, bits;

		if (bytes_peek_u64(b, 0, &off) || bytes_peek_u64(b, 8, &bits) ||
		    off != end || !bits || bits % 8 ||
		    __builtin_add_overflow(off, bits / 8, &end) ||
		    bytes_skip(b, len, NULL))
			return 0;
		fits |= off == file_len;
		missing += off >= file_len;
	}
	return fits ? missing : 0;
}

bool ctf_index_check(const struct ctf *ctf, const char *folder,
		     const char *name, uint64_t file_len)
{
	char *dir = ctf_find_join_path(folder, "index");
	char *file = ctf_find_join_path(folder, name);
	char *idx = mem_printf("%s.idx", name);
	char *path = ctf_find_join_path(dir, idx);
	uint64_t len;
	void *data = ctf_file_map(path, &len);
	struct bytes b;

	bytes_init(&b, data, len, path, 0, bytes_must_swap(true));
	const uint64_t missing =
		data ? ctf_index_count_missing(&b, file_len) : 0;

	if (missing)
		reader_damage_text(
			&ctf->src, file, "truncated", file_len, 0,
			"the file ends here, %" PRIu64
			" packet%s short of its index: it was cut, or copied "
			"while it was written",
			missing, missing == 1 ? "" : "s");
	ctf_file_unmap(data, len);
	free(path);
	free(idx);
	free(file);
	free(dir);
	return missing;
}

/* Has the index a packet of a file that is not there? */
static bool ctf_index_misses(const char *idx, const char *file)
{
	struct stat st;
	struct bytes b;
	uint64_t len;

	if (!stat(file, &st) || errno != ENOENT)
		return false;
	void *data = ctf_file_map(idx, &len);

	bytes_init(&b, data, len, idx, 0, bytes_must_swap(true));
	const uint32_t entry = data ? ctf_index_head(&b) : 0;
	const bool yes = entry && bytes_left(&b) >= entry;

	ctf_file_unmap(data, len);
	return yes;
}

void ctf_index_check_files(struct ctf *ctf, const char *folder)
{
	char *dir = ctf_find_join_path(folder, "index");
	struct dirent **list;
	const int n = ctf_find_list(NULL, dir, &list);

	for (int i = 0; i < n; i++) {
		char *idx = ctf_find_join_path(dir, list[i]->d_name);
		char *dot = strrchr(list[i]->d_name, '.');

		if (dot && !strcmp(dot, ".idx")) {
			*dot = '\0';
			char *file =
				ctf_find_join_path(folder, list[i]->d_name);

			if (ctf_index_misses(idx, file))
				reader_damage_text(
					&ctf->src, file, "file", 0, 0,
					"the file is missing, though its index "
					"has packets: give the folder as it "
					"was recorded");
			free(file);
		}
		free(idx);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	free(dir);
}
