# SPDX-License-Identifier: Apache-2.0
# Builds the page in OUT:   cmake -DSOURCE=daemon/web -DOUT=DIR -DPAGE=AUTO|ON|OFF -P build.cmake
# npm installs what package-lock.json names into OUT, once for each content of that file, so that a
# build without network works afterwards. Without a node that is new enough (find_node.sh), npm or the registry the page is
# without_node.html, which says so, and OUT/without_page has the reason and what to do in one sentence, for scripts/build.sh to
# end with. With PAGE=ON that is an error, and with PAGE=OFF nothing is tried.
set(lock ${SOURCE}/package-lock.json)
set(installed ${OUT}/node_modules/.trainwatch-lock)

function(install)
  file(SHA256 ${lock} wanted)
  if(EXISTS ${installed})
    file(READ ${installed} present)
    if(present STREQUAL wanted)
      return()
    endif()
  endif()
  file(COPY ${SOURCE}/package.json ${lock} DESTINATION ${OUT})
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env "PATH=${folder}:$ENV{PATH}" ${NPM} ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error
            --fetch-retries=1 --fetch-timeout=20000
    WORKING_DIRECTORY ${OUT} RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE error TIMEOUT 180)
  if(NOT result EQUAL 0)
    string(REGEX MATCH "[^\n]*" error "${error}")
    set(problem "npm could not fetch the page's libraries (${error}): is its registry reachable, and, where a company's own \
authority signs connections, does it know that one (npm config set cafile FILE)? Then build again" PARENT_SCOPE)
    return()
  endif()
  file(WRITE ${installed} ${wanted})
endfunction()

function(bundle)
  file(COPY ${SOURCE}/build.mjs DESTINATION ${OUT})
  execute_process(COMMAND ${NODE} ${OUT}/build.mjs ${SOURCE} ${OUT}
    RESULT_VARIABLE result ERROR_VARIABLE error)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "the page could not be built:\n${error}")  # a mistake in its sources
  endif()
endfunction()

set(problem "")
execute_process(COMMAND ${SOURCE}/find_node.sh RESULT_VARIABLE missing OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE)
if(PAGE STREQUAL OFF)
  set(problem "it was asked to be left out; build without that option to have it")
elseif(missing)
  set(problem "${found}; install node and npm (apt-get install nodejs npm) and build again")
else()
  string(REPLACE "\n" ";" found "${found}")
  list(GET found 0 NODE)
  list(GET found 1 NPM)
  cmake_path(GET NODE PARENT_PATH folder)
  install()
endif()

file(REMOVE ${OUT}/without_page)
if(problem STREQUAL "")
  bundle()
elseif(PAGE STREQUAL ON)
  message(FATAL_ERROR "the page cannot be built: ${problem}")
else()
  message(STATUS "built without the page: ${problem}")
  foreach(name page.js page.css tensors.js)
    file(WRITE ${OUT}/${name} "/* built without the page */\n")
  endforeach()
  file(REMOVE ${OUT}/index.html.gz ${OUT}/page.js.gz ${OUT}/page.css.gz ${OUT}/tensors.js.gz ${OUT}/icon.svg.gz)
  configure_file(${SOURCE}/without_node.html ${OUT}/index.html COPYONLY)
  configure_file(${SOURCE}/icon.svg ${OUT}/icon.svg COPYONLY)
  file(TOUCH ${OUT}/index.html ${OUT}/icon.svg)
  file(WRITE ${OUT}/without_page "${problem}\n")
endif()
