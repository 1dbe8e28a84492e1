# The run whose policy decides: 300 interactions with a made-up bandit of five arms and two numbers a context.
execute_process(COMMAND ${WORK}/prefix/bin/stein bandit --env wheel --policy lints --set steps=300 --quiet --out ${WORK}/run
  COMMAND_ERROR_IS_FATAL ANY)
