/* Included before every source of CaDiCaL by `make solver-contracts`: switches its own checks on, those of the
 * contract between solver and propagator among them. The registry's build switches them off. */
#undef NDEBUG
