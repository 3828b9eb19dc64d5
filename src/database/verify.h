// verify_table: reads every object that the newest version and the shards refer to, and reports what is
// wrong.
//
// Never stops at the first finding. Threads: any; runs beside writers (an object that a merge drains
// meanwhile is no finding). Shallow: structure and checksums of manifests, WAL entries and deletion files,
// presence and size of data files. Deep: every block and page of every data file as well.
#pragma once

#include "base/runtime.h"
#include "io/object_store.h"
#include "sheafdb/database.h"

namespace sheaf::database {

VerifyReport verify_table(const Runtime& runtime, const io::ObjectStorePtr& table_store, bool deep);

}  // namespace sheaf::database
