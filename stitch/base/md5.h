/* md5.h - the checksum by which DWARF 5 names source files (RFC 1321). */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define MD5_SIZE 16

void md5_of(const void *data, size_t len, uint8_t out[MD5_SIZE]);
