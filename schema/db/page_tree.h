/* page_tree.h - builds the B-tree of one table from rows in the order of its
 * key: leaves one after the other, and the pages above them at the end ("B-tree
 * Pages" of SQLite's documented file format).
 *
 * Calls: page_tree_new(), page_tree_add() with each block, page_tree_end(). */
#pragma once
#include <stdint.h>

#include "schema/db/bulk.h"

struct page_file;

/* The file is borrowed. */
struct page_tree *page_tree_new(struct page_file *pf, enum page_key key);
void page_tree_free(struct page_tree *t); /* NULL is allowed */
/* Adds the packed rows of a block whose key is above the last one. Moves the
 * others to the front of the block and sets b->n to their number. Returns an
 * SQLite result code. */
int page_tree_add(struct page_tree *t, struct block *b);
/* Completes the B-tree, whose root is page number root and empty so far. Call
 * it between page_file_attach() and page_file_finish(). Returns an SQLite
 * result code. */
int page_tree_end(struct page_tree *t, uint32_t root);
