#include "app/command_table.h"

#include <utility>

namespace railyard::app {

// One function per file of src/app/commands/.
std::vector<Command> catalog_commands();
std::vector<Command> compare_commands();
std::vector<Command> completion_commands();
std::vector<Command> demo_commands();
std::vector<Command> help_commands();
std::vector<Command> nccl_calibrate_commands();
std::vector<Command> nccl_expect_commands();
std::vector<Command> nccl_explain_commands();
std::vector<Command> nccl_judge_commands();
std::vector<Command> predict_commands();
std::vector<Command> topo_commands();
std::vector<Command> validate_commands();

std::vector<Command> standard_commands() {
  std::vector<Command> all;
  for (auto* const commands : {
           demo_commands,
           predict_commands,
           compare_commands,
           nccl_explain_commands,
           nccl_expect_commands,
           nccl_judge_commands,
           nccl_calibrate_commands,
           validate_commands,
           topo_commands,
           catalog_commands,
           completion_commands,
           help_commands,
       })
    for (Command& command : commands()) all.push_back(std::move(command));
  return all;
}

}  // namespace railyard::app
