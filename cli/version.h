/* version.h - which backstitch this is. */
#ifndef CLI_VERSION_H
#define CLI_VERSION_H
#ifndef VERSION
#define VERSION "0.1"
#endif
#endif
