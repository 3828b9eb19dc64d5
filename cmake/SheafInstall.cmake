# Install rules: binary, headers, CMake package, libarrow beside it.
