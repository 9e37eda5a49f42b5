/* user_stack_reader.h - builds a user stack: addresses, and places that a
 * capture tells instead of an address.
 *
 * A place is a file that an earlier event inode_cache named by its device and
 * inode. */
#pragma once

#include "formats/reader/scan.h"
#include "stitch/base/mem.h"
#include "stitch/record.h"
#include "stitch/base/table.h"

/* Zero-initialised is empty. */
struct user_stack_reader {
	uint64_t *ip;
	struct place *place; /* symbol, path and in_file unset: none */
	const struct place **at;
	size_t n, cap_ip, cap_place, cap_at;
	struct arena text;
	bool has_places;
	/* Files by device and inode; they outlive the stack. */
	struct place *file;
	size_t n_file, cap_file;
	struct table by_inode;
	struct arena paths;
};

void user_stack_reader_release(struct user_stack_reader *u);
/* Begins a new stack. Invalidates what user_stack_reader_addrs() returned. */
void user_stack_reader_start(struct user_stack_reader *u);
/* Adds a frame. place may be NULL; its strings are borrowed. */
void user_stack_reader_add(struct user_stack_reader *u, uint64_t ip,
			   const struct place *place);
/* Adds a frame of a deferred stack. value is an offset in the file with this
 * device and inode, or an address if the inode is -1. */
void user_stack_reader_add_file(struct user_stack_reader *u, uint64_t value,
				const struct place *file);
/* The frames, borrowed until the next user_stack_reader_start(). */
struct addrs user_stack_reader_addrs(struct user_stack_reader *u);

/* Notes the path of the file with this device and inode. It replaces an older
 * path, which was another name of the file, or another file that had the same
 * inode before. */
void user_stack_reader_note_file(struct user_stack_reader *u,
				 const struct place *file, struct scan path);
/* Sets the device numbers of *out from the kernel's own dev_t. */
void user_stack_reader_set_device(uint32_t dev, struct place *out);
