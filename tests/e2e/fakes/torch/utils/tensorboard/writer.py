# SPDX-License-Identifier: Apache-2.0
import event_writers

FileWriter, SummaryWriter = event_writers.classes()
