// railyard: what a training job does on a cluster, what holds it back, what to change.

#include <string>
#include <vector>

#include "app/command_table.h"
#include "app/process.h"
#include "app/run.h"

int main(int argc, char** argv) {
  namespace app = railyard::app;
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const app::Process process;
  const app::Exit exit = app::run(words, app::standard_commands(), process.io());
  return static_cast<int>(process.finish(exit));
}
