/* addrs.h - packs and unpacks the addresses of a raw chain in raw_chain.addrs.
 *
 * Each address is the difference to the previous one, zigzag-coded, as a
 * little-endian base-128 number. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define ADDRS_BYTES_MAX 10 /* bytes of one packed address, at most */

/* Packs n addresses into p, which has room for ADDRS_BYTES_MAX each. *last is
 * the address before them (0: none), and becomes the last one of them. Returns
 * the end of the bytes written. */
unsigned char *addrs_pack(unsigned char *p, const uint64_t *ip, uint32_t n,
			  uint64_t *last);
/* Unpacks a blob into ip[]. Returns the number of addresses, or -1 if the blob
 * is damaged or has more than max. */
int store_addrs(const void *blob, size_t len, uint64_t *ip, uint32_t max);
