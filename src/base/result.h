// The public Result and Error, under the name the layers include, plus Arrow-free conveniences.
#pragma once

#include "sheafdb/result.h"
