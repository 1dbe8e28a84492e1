#include "program.h"

int main(int argc, char** argv) {
  return stein::cli::run_program({argv + 1, argv + argc});
}
