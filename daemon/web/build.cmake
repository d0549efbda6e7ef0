# SPDX-License-Identifier: Apache-2.0
# Builds the page in OUT:   cmake -DSOURCE=daemon/web -DOUT=DIR -DPAGE=AUTO|ON|OFF -P build.cmake
# npm installs what package-lock.json names into OUT, once for each content of that file, so that a
# build without network works afterwards. Without node, npm or the registry the page is
# without_node.html, which says so; with PAGE=ON that is an error, and with PAGE=OFF nothing is tried.
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
    COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error
            --fetch-retries=1 --fetch-timeout=20000
    WORKING_DIRECTORY ${OUT} RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE error TIMEOUT 180)
  if(NOT result EQUAL 0)
    string(REGEX MATCH "[^\n]*" error "${error}")
    set(problem "npm ci failed (is the registry reachable?): ${error}" PARENT_SCOPE)
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
find_program(NODE node)
find_program(NPM npm)
if(PAGE STREQUAL OFF)
  set(problem "TRAINWATCH_PAGE is OFF")
elseif(NOT NODE OR NOT NPM)
  set(problem "node or npm is not installed")
else()
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
